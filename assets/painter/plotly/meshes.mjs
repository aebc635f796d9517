// @ts-check
/**
 * Meshes of Plotly's that share their vertices: positions, colours and opacity are written once a vertex, not once a corner of a triangle.
 *
 * @typedef {import("../../globals.mjs").Plotly} Plotly
 * @typedef {import("./buffers.mjs").Kept} Kept
 */

/** Meshes that are drawn by the numbers of their vertices, with the buffer of these: Plotly has a vertex for each corner of each triangle, six
 * times as many. @type {WeakMap<Plotly, WebGLBuffer>} */
export const sharing = new WeakMap();

/** From now on each vertex of a mesh stands once in its buffers, until Plotly fills them. @param {Plotly} mesh
 * @returns {Uint32Array} the corners of its triangles */
function shared(mesh) {
  const { gl } = mesh, cells = Uint32Array.from(mesh.cells.flat()), numbers = gl.createBuffer();
  if (3 * mesh.triangleCount !== cells.length || !gl.getExtension("OES_element_index_uint")) throw new Error("unexpected triangles");
  const bind = () => gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, numbers);
  bind();
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, cells.map((_, c) => cells[c + 2 - 2 * (c % 3)]), gl.STATIC_DRAW); // last first, as Plotly has them
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, null);
  parted(mesh);
  arrange(mesh, { bind });
  sharing.set(mesh, numbers);
  return cells;
}

/** A mesh as Plotly has it. @param {Plotly} mesh */
export function parted(mesh) {
  const numbers = sharing.get(mesh);
  if (!numbers) return;
  sharing.delete(mesh);
  arrange(mesh, null);
  mesh.gl.deleteBuffer(numbers);
}

/** What the shader of a mesh reads from which of its buffers, and in which order. @param {Plotly} mesh @param {{bind: () => void} | null} numbers */
function arrange({ gl, triangleVAO, trianglePositions, triangleIds, triangleColors, triangleUVs, triangleNormals }, numbers) {
  const floats = (/** @type {Plotly} */ buffer, /** @type {number} */ size) => ({ buffer, type: gl.FLOAT, size });
  triangleVAO.update([floats(trianglePositions, 3), { buffer: triangleIds, type: gl.UNSIGNED_BYTE, size: 4, normalized: true },
    floats(triangleColors, 4), floats(triangleUVs, 2), floats(triangleNormals, 3)], numbers);
}

/** Draw a mesh that shares its vertices. @param {Plotly} mesh @param {() => void} draw as Plotly does */
export function byNumbers({ gl }, draw) {
  gl.drawArrays = (/** @type {number} */ mode, /** @type {number} */ first, /** @type {number} */ count) => gl.drawElements(mode, count, gl.UNSIGNED_INT, first);
  draw();
  delete gl.drawArrays;
}

/** Meshes: each vertex once, with its smooth normal, the way a mesh is drawn that shares its vertices. @param {Plotly} mesh
 * @param {Float32Array} points @param {number[]} scale @param {Kept} kept */
export function writeMesh(mesh, points, scale, kept) {
  const cells = (kept.cells ??= shared(mesh)), out = (kept.array ??= new Float32Array(points.length)), sums = (kept.normals ??= new Float32Array(points.length));
  const [sx, sy, sz] = scale;
  for (let o = 0; o < points.length; o += 3) { out[o] = points[o] * sx; out[o + 1] = points[o + 1] * sy; out[o + 2] = points[o + 2] * sz; }
  sums.fill(0);
  for (let c = 0; c < cells.length; c += 3) {
    const i = 3 * cells[c], j = 3 * cells[c + 1], k = 3 * cells[c + 2];
    const ux = out[j] - out[i], uy = out[j + 1] - out[i + 1], uz = out[j + 2] - out[i + 2];
    const vx = out[k] - out[i], vy = out[k + 1] - out[i + 1], vz = out[k + 2] - out[i + 2];
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    sums[i] += nx; sums[i + 1] += ny; sums[i + 2] += nz;
    sums[j] += nx; sums[j + 1] += ny; sums[j + 2] += nz;
    sums[k] += nx; sums[k + 1] += ny; sums[k + 2] += nz;
  }
  for (let o = 0; o < sums.length; o += 3) {
    const length = Math.sqrt(sums[o] ** 2 + sums[o + 1] ** 2 + sums[o + 2] ** 2) || 1;
    sums[o] /= length; sums[o + 1] /= length; sums[o + 2] /= length;
  }
  mesh.trianglePositions.update(out, 0);
  mesh.triangleNormals.update(sums, 0);
}

/** Where on its colour scale each vertex of a mesh is. @param {Plotly} mesh @param {Float32Array} values @param {Kept} kept
 * @param {{low: number, high: number}} color */
export function shadeMesh(mesh, values, kept, { low, high }) {
  const out = (kept.shades ??= new Float32Array(2 * values.length));
  for (let i = 0; i < values.length; i++) out[2 * i] = (values[i] - low) / (high - low);
  mesh.triangleUVs.update(out, 0);
}

/** A mesh carries its opacity in each vertex. @param {Plotly} mesh @param {number} opacity @param {Kept} kept @param {number[]} color */
export function fadeMesh(mesh, opacity, kept, color) {
  const colors = (kept.colors ??= new Float32Array((4 * kept.array.length) / 3));
  for (let v = 0; v < colors.length; v += 4) {
    colors[v] = color[0]; colors[v + 1] = color[1]; colors[v + 2] = color[2]; colors[v + 3] = opacity;
  }
  mesh.triangleColors.update(colors, 0);
  mesh.opacity = opacity;
}
