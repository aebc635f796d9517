// @ts-check
/**
 * The convex hull of points, as geometry/hull.py computes it with Qhull: an outline and triangles to draw.
 * Points on a line or in a plane get their hull within that line or plane. Pure.
 *
 * @typedef {{points: Points, rank: number, order: number[], triangles: number[][]}} Hull rank: the dimension
 *   of the points' affine span. order: the indices of the points along the outline, −1 for a gap. triangles:
 *   for each triangle the indices of its three corners. A hull of rank 3 has triangles that are
 *   counterclockwise, seen from outside; a flat polygon in space is a fan of triangles; any other hull has no
 *   triangles
 */

import { affineMap, frameOf } from "./affine_map.mjs";
import { determinant } from "./vectors.mjs";
/** @import { Points } from "./affine_map.mjs" */

// points that are nearer to a line or plane than this share of the point set's size count as lying on it,
// because their coordinates come in single precision
const FLATNESS_TOLERANCE = 5e-7;
// A point lies outside a face if its height above the face is more than this share of the point set's size.
// With a much larger tolerance, the faces that a point is outside of might not form one connected region
const VISIBILITY_TOLERANCE = 1e-13;

/** The convex hull of n points with d coordinates each. Throws a RangeError if the points span more than
 * three dimensions. If an invertible affine map takes the points of `before` to these points, the outline and
 * faces of `before` are reused. @param {Points} points @param {number} n @param {number} d @param {Hull}
 * [before] the hull of the same points at the previous moment @returns {Hull} */
export function hull(points, n, d, before) {
  const moved = before && affineMap(before.points, points, n, d);
  if (before && moved)
    return {
      ...before,
      points,
      triangles: moved.mirrored ? before.triangles.map(([a, b, c]) => [a, c, b]) : before.triangles,
    };
  const { flat, rank, size } = spread(points, n, d);
  const faces =
    rank === 0
      ? { order: [], triangles: [] }
      : rank === 1
        ? line(flat, n)
        : rank === 2
          ? polygon(flat, n, FLATNESS_TOLERANCE * size)
          : polyhedron(flat, n, size);
  const together = (/** @type {number} */ i, /** @type {number} */ k) => {
    for (let r = 0; r < rank; r++) if (flat[i * rank + r] !== flat[k * rank + r]) return false;
    return true;
  };
  const first = (/** @type {number} */ i) => {
    let k = 0;
    while (k < i && !together(i, k)) k++;
    return k;
  };
  return {
    points,
    rank,
    order: faces.order,
    triangles: d === 3 && rank === 2 ? fan(faces.order.map(first)) : faces.triangles,
  };
}

/** Triangulate a flat polygon in space as a fan of triangles around its point with the lowest index.
 * @param {number[]} order indices of its corners; the last is the first again */
function fan(order) {
  const corners = order.slice(1);
  const from = corners.indexOf(Math.min(...corners));
  const [first, ...rest] = [...corners.slice(from), ...corners.slice(0, from)];
  return rest.slice(1).map((p, k) => [first, rest[k], p]);
}

/** The dimension of the affine subspace that points span (rank); their coordinates in it, relative to the
 * first point (flat); and the largest distance of a point from the first (size).
 * @param {ArrayLike<number>} points @param {number} n the number of points @param {number} d the number of
 * coordinates of a point */
function spread(points, n, d) {
  const least =
    8 * Number.EPSILON * new Float64Array(points).reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  const { axes, along, size } = frameOf(points, n, d, FLATNESS_TOLERANCE, least);
  const rank = axes.length;
  if (rank > 3) throw new RangeError("no hull of points in more than three dimensions");
  // keep the orientation, so that the coordinates are no mirror image
  if (d === 3 && rank === 3 && determinant(axes) < 0) along[2] = along[2].map((x) => -x);
  const flat = new Float64Array(n * rank);
  for (let i = 0; i < n; i++)
    along.forEach((coordinates, r) => {
      flat[i * rank + r] = coordinates[i];
    });
  return { flat, rank, size };
}

/** The hull of points on a line. Returns the indices of its two ends as `order`, and no `triangles`.
 * @param {Float64Array} x one coordinate for each point @param {number} n the number of points */
function line(x, n) {
  let low = 0;
  let high = 0;
  for (let i = 1; i < n; i++) {
    if (x[i] < x[low]) low = i;
    if (x[i] > x[high]) high = i;
  }
  return { order: [low, high], triangles: [] };
}

/** The hull of points in the plane, by Andrew's monotone chain. Returns the indices of its corners
 * counterclockwise as `order`, with the first again at the end, and no `triangles`.
 * @param {Float64Array} x two coordinates for each point @param {number} n the number of points
 * @param {number} tolerance a point that sticks out at most this far is not a corner */
function polygon(x, n, tolerance) {
  const sorted = Array.from({ length: n }, (_, i) => i).sort(
    (i, j) => x[2 * i] - x[2 * j] || x[2 * i + 1] - x[2 * j + 1],
  );
  const half = (/** @type {number[]} */ order) => {
    /** @type {number[]} */ const chain = [];
    for (const k of order) {
      while (chain.length > 1 && outside(x, chain.at(-2) ?? 0, chain.at(-1) ?? 0, k) <= tolerance)
        chain.pop();
      chain.push(k);
    }
    return chain;
  };
  const lower = half(sorted);
  const upper = half(sorted.reverse());
  return { order: [...lower, ...upper.slice(1)], triangles: [] };
}

/** The signed distance, in the plane, of point b from the line through the points a and c: positive on the
 * right, as seen from a towards c. If a and c coincide, the distance from a to b.
 * @param {Float32Array | Float64Array} x the coordinates of all points; a, b and c are indices of points
 * @param {number} a @param {number} b @param {number} c */
function outside(x, a, b, c) {
  const ux = x[2 * c] - x[2 * a];
  const uy = x[2 * c + 1] - x[2 * a + 1];
  const long = Math.hypot(ux, uy);
  const vx = x[2 * b] - x[2 * a];
  const vy = x[2 * b + 1] - x[2 * a + 1];
  return long > 0 ? (ux * -vy + uy * vx) / long : Math.hypot(vx, vy);
}

/** The hull of points in space: `order` and `triangles` of a `Hull`. The incremental algorithm begins with a
 * tetrahedron and adds one point after the other. If a new point lies outside of some faces, these faces are
 * removed, and new faces connect the rim of the hole with the point. @param {Float64Array} x three
 * coordinates for each point @param {number} n the number of points @param {number} size the largest distance
 * of a point from the first */
function polyhedron(x, n, size) {
  const visibilityTolerance = VISIBILITY_TOLERANCE * size;
  const first = tetrahedron(x, n);
  const middle = [0, 1, 2].map((j) => first.reduce((s, i) => s + x[3 * i + j] / 4, 0));
  const [a, b, c, d] = first;
  let faces = [
    [a, b, c],
    [a, b, d],
    [a, c, d],
    [b, c, d],
  ].map((corners) => facingAwayFrom(x, corners, middle));
  for (let i = 0; i < n; i++) {
    if (first.includes(i)) continue;
    /** @type {Set<number>} */ const edges = new Set();
    /** @type {Face[]} */ const kept = [];
    for (const face of faces) {
      const [p, q, r] = face.corners;
      if (above(x, face, i) > visibilityTolerance)
        edges
          .add(n * p + q)
          .add(n * q + r)
          .add(n * r + p);
      else kept.push(face);
    }
    if (kept.length === faces.length) continue;
    for (const edge of edges) {
      const p = Math.floor(edge / n);
      const q = edge % n;
      if (!edges.has(n * q + p)) kept.push(faceThrough(x, [p, q, i])); // the rim of the removed faces
    }
    faces = kept;
  }
  const triangles = faces.map(({ corners }) => corners);
  return { order: outline(triangles), triangles };
}

/** The indices of four points that form a large tetrahedron: the first point, and for each axis of `frameOf`
 * the point that is farthest along it. @param {Float64Array} x coordinates along these axes @param {number} n
 * the number of points */
function tetrahedron(x, n) {
  // the axes of `frameOf` led from point 0 to the farthest point, then to the point farthest from that line,
  // then to the point farthest from that plane
  const farthest = (/** @type {number} */ j) => {
    let k = 0;
    for (let i = 1; i < n; i++) if (Math.abs(x[3 * i + j]) > Math.abs(x[3 * k + j])) k = i;
    return k;
  };
  return [0, farthest(0), farthest(1), farthest(2)];
}

/** @typedef {{corners: number[], normal: number[], offset: number}} Face a triangle of a hull. corners: the
 * indices of three points; normal: the outer unit normal; offset: the dot product of the normal and a corner
 */

/** The face through three points, with its normal by the right-hand rule. @param {Float64Array} x the
 * coordinates of all points @param {number[]} corners the indices of the three @returns {Face} */
function faceThrough(x, corners) {
  const p = 3 * corners[0];
  const q = 3 * corners[1];
  const r = 3 * corners[2];
  const ux = x[q] - x[p];
  const uy = x[q + 1] - x[p + 1];
  const uz = x[q + 2] - x[p + 2];
  const vx = x[r] - x[p];
  const vy = x[r + 1] - x[p + 1];
  const vz = x[r + 2] - x[p + 2];
  const wx = uy * vz - uz * vy;
  const wy = uz * vx - ux * vz;
  const wz = ux * vy - uy * vx;
  const long = Math.sqrt(wx * wx + wy * wy + wz * wz) || 1;
  const normal = [wx / long, wy / long, wz / long];
  return { corners, normal, offset: normal[0] * x[p] + normal[1] * x[p + 1] + normal[2] * x[p + 2] };
}

/** The face through three points, oriented so that its normal points away from an inner point.
 * @param {Float64Array} x the coordinates of all points @param {number[]} corners the indices of the three
 * points @param {number[]} inside the inner point */
function facingAwayFrom(x, corners, inside) {
  const face = faceThrough(x, corners);
  const height = face.normal.reduce((s, w, j) => s + w * inside[j], -face.offset);
  return height > 0 ? faceThrough(x, [corners[0], corners[2], corners[1]]) : face;
}

/**
 * The signed distance of point i from the plane of a face, positive outside.
 * @param {Float64Array} x the coordinates of all points @param {Face} face @param {number} i
 */
const above = (x, { normal, offset }, i) =>
  normal[0] * x[3 * i] + normal[1] * x[3 * i + 1] + normal[2] * x[3 * i + 2] - offset;

/** Every edge of a closed surface once, as a line: the indices of the edge's two ends, then −1, which means a
 * gap. @param {number[][]} triangles the indices of the corners of each */
const outline = (triangles) =>
  triangles.flatMap((corners) =>
    corners.flatMap((p, k) => (p < corners[(k + 1) % 3] ? [p, corners[(k + 1) % 3], -1] : [])),
  );
