// @ts-check
/**
 * Write positions, colours and opacities of markers, lines and meshes into the vertex buffers that Plotly has
 * built. The argument `scale` is Plotly's `dataScale`: a position in axis coordinates times `scale` is a
 * position in buffer units. A mesh is drawn indexed: each vertex is stored once, instead of once per triangle
 * corner.
 *
 * @typedef {import("../../globals.mjs").Plotly} Plotly
 * @typedef {import("../../engine/engine.mjs").View} View
 * @typedef {import("../../engine/recipe.d.ts").Color} Color
 * @typedef {Record<string, any>} Kept data kept of a layer from frame to frame: the arrays that the previous
 *   frame drew, the contents of its buffers, and its colour `rgb` or colours `palette` (red, green, blue,
 *   from 0 to 1)
 */

import { shade } from "../colors.mjs";

/** Write the positions of markers (drawn points). Plotly's buffer repeats a point's position for every vertex
 * of its glyph: first for the face vertices of all points, then for the edge vertices of all points. Hidden
 * points (NaN) get the position `kept.away`, outside the view. Throws if Plotly's vertex counts are no
 * multiples of the number of points. @param {Plotly} cloud Plotly's object for the markers @param
 * {Float32Array} points x, y and z of each point @param {number[]} scale Plotly's `dataScale`, for each axis
 * @param {Kept} kept */
export function writePoints(cloud, points, scale, kept) {
  const n = points.length / 3;
  const faces = cloud.vertexCount / n;
  const edges = cloud.lineVertexCount / n;
  if (!Number.isInteger(faces) || !Number.isInteger(edges)) throw new Error("unexpected glyphs");
  const out = (kept.array ??= new Float32Array(3 * n * (faces + edges)));
  let at = 0;
  for (const vertices of [faces, edges]) {
    for (let i = 0; vertices && i < n; i++) {
      const shown = points[3 * i] === points[3 * i];
      const from = shown ? points : kept.away;
      const o = shown ? 3 * i : 0;
      const x = from[o] * scale[0];
      const y = from[o + 1] * scale[1];
      const z = from[o + 2] * scale[2];
      for (const end = at + 3 * vertices; at < end; at += 3) {
        out[at] = x;
        out[at + 1] = y;
        out[at + 2] = z;
      }
    }
  }
  cloud.pointBuffer.update(out, 0);
}

/** Write the colours of markers (drawn points). The value of a point selects its colour from `kept.palette`;
 * the ends of the scale are in `color`. @param {Plotly} cloud @param {Float32Array} values one for each point
 * @param {Kept} kept @param {Color} color */
export function shadePoints(cloud, values, kept, color) {
  const vertices = cloud.vertexCount / values.length;
  const out = (kept.colors ??= new Float32Array(4 * cloud.vertexCount).fill(1));
  for (let i = 0, at = 0; i < values.length; i++) {
    const [r, g, b] = kept.palette[shade(values[i], color)];
    for (let v = 0; v < vertices; v++, at += 4) {
      out[at] = r;
      out[at + 1] = g;
      out[at + 2] = b;
    }
  }
  cloud.colorBuffer.update(out, 0);
}

/** Write a line as a triangle strip: four vertices per segment, each with 12 numbers (its end of the segment,
 * the other end, arc length, ± width, colour). At a gap (NaN) the vertices on both sides are repeated, so
 * that the strip continues with triangles without area. Arc lengths place the dashes. Their unit is the side
 * of the cube that the axes form, because Plotly's arc lengths, in buffer units, change with the axes.
 * @param {Plotly} line @param {Float32Array} points x, y and z of each point @param {number[]} scale Plotly's
 * `dataScale`, for each axis @param {Kept} kept @param {number} size the line's width @param {View} view */
export function writeLine(line, points, scale, kept, size, { ranges }) {
  const n = points.length / 3;
  const [wx, wy, wz] = ranges.map(([low, high], r) => ((high - low) * scale[r]) ** -2);
  if (!(kept.array?.length >= 48 * (n - 1))) kept.array = lineTemplate(n, kept.rgb);
  const out = kept.array;
  const gap = (/** @type {number} */ i) => points[3 * i] !== points[3 * i];
  let arc = 0;
  let at = 0;
  for (let i = 1, joined = true; i < n; i++) {
    if (gap(i - 1) || gap(i)) {
      joined = at === 0;
      continue;
    }
    const a = 3 * i - 3;
    const b = 3 * i;
    const from = arc;
    const first = joined ? at : at + 24;
    const ax = points[a] * scale[0];
    const ay = points[a + 1] * scale[1];
    const az = points[a + 2] * scale[2];
    const bx = points[b] * scale[0];
    const by = points[b + 1] * scale[1];
    const bz = points[b + 2] * scale[2];
    arc += Math.sqrt(wx * (bx - ax) ** 2 + wy * (by - ay) ** 2 + wz * (bz - az) ** 2);
    for (let v = 0, o = first; v < 4; v++, o += 12) {
      const start = v < 2;
      out[o] = start ? ax : bx;
      out[o + 1] = start ? ay : by;
      out[o + 2] = start ? az : bz;
      out[o + 3] = start ? bx : ax;
      out[o + 4] = start ? by : ay;
      out[o + 5] = start ? bz : az;
      out[o + 6] = start ? from : arc;
      out[o + 7] = v === 0 || v === 3 ? size : -size;
    }
    if (!joined) out.copyWithin(at, at - 12, at).copyWithin(at + 12, first, first + 12);
    joined = true;
    at = first + 48;
  }
  line.buffer.update(out.subarray(0, at));
  line.vertexCount = at / 12;
  line.arcLength = [0, arc || 1];
}

/** The vertices of a line with n points (four for each of its n − 1 segments, with 12 numbers each) as an
 * array, in which only the colour of each vertex is set; all other numbers are 0. @param {number} n @param
 * {number[]} color red, green, blue, 0 to 1 */
function lineTemplate(n, color) {
  const out = new Float32Array(48 * (n - 1));
  for (let v = 0; v < 4 * (n - 1); v++) out.set([...color, 1], 12 * v + 8);
  return out;
}

/** The index buffer of each mesh that is drawn indexed. Without indices Plotly stores one vertex for each
 * corner of each triangle, about six times as many. @type {WeakMap<Plotly, WebGLBuffer>} */
const indexBuffers = new WeakMap();

/** Make a mesh draw by vertex indices, until Plotly fills the mesh's buffers again (then `makeUnindexed` is
 * called). Throws if the mesh has an unexpected number of triangles, or WebGL allows no 32-bit indices.
 * @param {Plotly} mesh @returns {Uint32Array} for each triangle the indices of its three vertices */
function makeIndexed(mesh) {
  const { gl } = mesh;
  const cells = Uint32Array.from(mesh.cells.flat());
  if (3 * mesh.triangleCount !== cells.length || !gl.getExtension("OES_element_index_uint"))
    throw new Error("unexpected triangles");
  const buffer = indexBuffers.get(mesh) ?? gl.createBuffer();
  indexBuffers.set(mesh, buffer);
  // Plotly stores the corners of each triangle in reverse order
  const indices = cells.map((_, c) => cells[c + 2 - 2 * (c % 3)]);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffer);
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, null);
  return cells;
}

/** Make a mesh draw without indices again, as Plotly does. Does nothing if the mesh is not drawn indexed.
 * @param {Plotly} mesh */
export function makeUnindexed(mesh) {
  mesh.gl.deleteBuffer(indexBuffers.get(mesh) ?? null);
  indexBuffers.delete(mesh);
}

/** Run Plotly's drawing function of an object. For a mesh that is drawn indexed, `drawElements` replaces
 * `drawArrays` meanwhile. @param {Plotly} object @param {() => void} draw Plotly's drawing function */
export function drawIndexed(object, draw) {
  const { gl } = object;
  const buffer = indexBuffers.get(object);
  if (!buffer) return draw();
  gl.drawArrays = (/** @type {number} */ mode, /** @type {number} */ first, /** @type {number} */ count) => {
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffer);
    gl.drawElements(mode, count, gl.UNSIGNED_INT, first);
  };
  try {
    draw();
  } finally {
    delete gl.drawArrays;
  }
}

/** Write the positions of a mesh's vertices, each once, and the vertices' normals. The first call makes the
 * mesh draw by vertex indices (`makeIndexed`). The normal of a vertex has the direction of the area-weighted
 * mean of the normals of the triangles around it. @param {Plotly} mesh @param {Float32Array} points x, y and
 * z of each vertex @param {number[]} scale Plotly's `dataScale`, for each axis @param {Kept} kept */
export function writeMesh(mesh, points, scale, kept) {
  const cells = (kept.cells ??= makeIndexed(mesh));
  const out = (kept.array ??= new Float32Array(points.length));
  const sums = (kept.normals ??= new Float32Array(points.length));
  const [sx, sy, sz] = scale;
  for (let o = 0; o < points.length; o += 3) {
    out[o] = points[o] * sx;
    out[o + 1] = points[o + 1] * sy;
    out[o + 2] = points[o + 2] * sz;
  }
  sums.fill(0);
  for (let c = 0; c < cells.length; c += 3) {
    const i = 3 * cells[c];
    const j = 3 * cells[c + 1];
    const k = 3 * cells[c + 2];
    const ux = out[j] - out[i];
    const uy = out[j + 1] - out[i + 1];
    const uz = out[j + 2] - out[i + 2];
    const vx = out[k] - out[i];
    const vy = out[k + 1] - out[i + 1];
    const vz = out[k + 2] - out[i + 2];
    const nx = uy * vz - uz * vy;
    const ny = uz * vx - ux * vz;
    const nz = ux * vy - uy * vx;
    sums[i] += nx;
    sums[i + 1] += ny;
    sums[i + 2] += nz;
    sums[j] += nx;
    sums[j + 1] += ny;
    sums[j + 2] += nz;
    sums[k] += nx;
    sums[k + 1] += ny;
    sums[k + 2] += nz;
  }
  for (let o = 0; o < sums.length; o += 3) {
    const length = Math.sqrt(sums[o] ** 2 + sums[o + 1] ** 2 + sums[o + 2] ** 2) || 1;
    sums[o] /= length;
    sums[o + 1] /= length;
    sums[o + 2] /= length;
  }
  mesh.trianglePositions.update(out, 0);
  mesh.triangleNormals.update(sums, 0);
}

/** Write the colours of a mesh's vertices: for each vertex a number on the colour scale, from 0 for the value
 * `low` to 1 for the value `high`. @param {Plotly} mesh @param {Float32Array} values one for each vertex
 * @param {Kept} kept @param {Color} color */
export function shadeMesh(mesh, values, kept, { low, high }) {
  const out = (kept.shades ??= new Float32Array(2 * values.length));
  for (let i = 0; i < values.length; i++) out[2 * i] = (values[i] - low) / (high - low);
  mesh.triangleUVs.update(out, 0);
}

/** Write the opacity of a mesh. Plotly stores the opacity with the colour of every vertex, so the colour
 * `kept.rgb` is written again. @param {Plotly} mesh @param {number} opacity @param {Kept} kept */
export function fadeMesh(mesh, opacity, kept) {
  const out = (kept.colors ??= new Float32Array((4 * kept.array.length) / 3));
  for (let v = 0; v < out.length; v += 4) {
    out.set(kept.rgb, v);
    out[v + 3] = opacity;
  }
  mesh.triangleColors.update(out, 0);
}
