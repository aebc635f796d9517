// @ts-check
/**
 * Detect whether an invertible affine map has moved the points from the previous moment to the present one.
 * If so, earlier results can be reused. The corners of the convex hull are still the same points. If a point
 * was a weighted average of other points, it still is, with the same weights. If the points are keys of
 * attention, `AffineMap.query` changes a query so that the same key as before gets the highest score (dot
 * product). Pure.
 *
 * @typedef {ArrayLike<number> & object} Points
 * @typedef {{mirrored: boolean, query: (q: ArrayLike<number>) => number[]}} AffineMap query: changes a query
 *   for the earlier points into a query for the present ones. With the new query, each point has its old
 *   score plus a number that is the same for all points. mirrored: whether the map mirrors space (always
 *   false if the points do not have three coordinates or do not span space)
 * @typedef {{ends: number[], axes: number[][], along: Float64Array[], size: number}} Frame orthonormal axes
 *   of the affine space that points span, with the first point as origin (`frameOf`). ends: for each axis the
 *   index of the point that determined it; along: for each axis the coordinates of all points; size: the
 *   largest distance of a point from the first
 */

import { determinant, dot } from "./vectors.mjs";

// a bound of rounding errors of coordinates, relative to the largest coordinate or distance
const COORDINATE_TOLERANCE = 2 ** -46;
// a map counts as not invertible if the ratio of the shortest image of an axis to the longest is smaller
const MIN_AXIS_RATIO = 1e-4;

/** @type {WeakMap<Points, Frame>} results of `frameOf` */
const frames = new WeakMap();

/**
 * Find the invertible affine map that takes each of n points in `before` to the point with the same index in
 * `after`, up to rounding. Returns two of its properties (`AffineMap`), or null if there is no such map or n
 * is 0. A map that flattens the points almost completely counts as not invertible. The axes of `before` are
 * cached.
 * @param {Points} before @param {Points} after @param {number} n @param {number} d the number of coordinates
 * of a point @returns {AffineMap | null}
 */
export function affineMap(before, after, n, d) {
  if (!n || before.length !== after.length) return null;
  const known = frames.get(before) ?? frameOf(before, n, d, COORDINATE_TOLERANCE);
  frames.set(before, known);
  const { ends, axes, along } = known;
  const to = ends.map((end) => away(after, end, d));
  to.forEach((v, s) => {
    for (let t = 0; t < s; t++) add(v, to[t], -along[t][ends[s]]);
    for (let j = 0; j < d; j++) v[j] /= along[s][ends[s]];
  });
  if (!follows(along, to, after, n, d)) return null;
  /** @type {number[][]} */ const units = [];
  const lengths = to.map((v) => {
    const rest = v.slice();
    for (const unit of units) add(rest, unit, -dot(unit, rest));
    const long = Math.sqrt(dot(rest, rest));
    units.push(rest.map((x) => x / long));
    return long;
  });
  if (!(Math.min(...lengths) > MIN_AXIS_RATIO * Math.max(...lengths))) return null;
  const query = (/** @type {ArrayLike<number>} */ q) => {
    const out = new Array(d).fill(0);
    units.forEach((unit, s) => add(out, unit, (dot(axes[s], q) - dot(to[s], out)) / lengths[s]));
    return out;
  };
  return { mirrored: d === 3 && axes.length === 3 && determinant(axes) * determinant(to) < 0, query };
}

/** Compute orthonormal axes of the affine space that n points span (d coordinates each), with the first point
 * as origin. Each axis leads towards the point that is farthest from the span of the axes before it. Stops
 * when the distance of that point from the span is at most tolerance·size + least, where size is the largest
 * distance of a point from the first. @param {Points} points @param {number} n @param {number} d
 * @param {number} tolerance @param {number} [least] @returns {Frame} */
export function frameOf(points, n, d, tolerance, least = 0) {
  /** @type {Frame} */ const built = { ends: [], axes: [], along: [], size: 0 };
  const rest = new Float64Array(points);
  for (let o = rest.length - 1; o >= 0; o--) rest[o] -= rest[o % d];
  while (built.axes.length < d) {
    let end = 0;
    let most = 0;
    for (let i = 0; i < n; i++) {
      let squares = 0;
      for (let j = 0; j < d; j++) squares += rest[i * d + j] ** 2;
      if (squares > most) {
        most = squares;
        end = i;
      }
    }
    const long = Math.sqrt(most);
    built.size ||= long;
    if (!(long > tolerance * built.size + least)) break;
    const axis = Array.from(rest.subarray(end * d, end * d + d), (x) => x / long);
    const along = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < d; j++) along[i] += axis[j] * rest[i * d + j];
      for (let j = 0; j < d; j++) rest[i * d + j] -= along[i] * axis[j];
    }
    built.ends.push(end);
    built.axes.push(axis);
    built.along.push(along);
  }
  return built;
}

/** Whether an affine map takes n earlier points to the present points, up to rounding. The map is given by
 * the images of the axes of a `Frame`. So the vector from the first present point to point i must be Σ
 * along[s][i]·to[s], summed over the axes s. @param {Float64Array[]} along for each axis the coordinates of
 * the earlier points @param {number[][]} to for each axis its image, a vector @param {Points} after the
 * present points @param {number} n @param {number} d the number of coordinates of a point */
function follows(along, to, after, n, d) {
  let size = 0;
  for (let i = 0; i < n * d; i++) size = Math.max(size, Math.abs(after[i]));
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < d; j++) {
      let x = after[i * d + j] - after[j];
      for (let s = 0; s < to.length; s++) x -= along[s][i] * to[s][j];
      if (!(Math.abs(x) <= COORDINATE_TOLERANCE * size)) return false;
    }
  }
  return true;
}

/** The vector from the first point to point i. @param {Points} points with d coordinates each
 * @param {number} i @param {number} d */
function away(points, i, d) {
  /** @type {number[]} */ const out = [];
  for (let j = 0; j < d; j++) out.push(points[i * d + j] - points[j]);
  return out;
}

/** Add a multiple of y to x, in place. @param {number[]} x @param {number[]} y @param {number} times the
 * factor of y */
function add(x, y, times) {
  for (let j = 0; j < x.length; j++) x[j] += times * y[j];
}
