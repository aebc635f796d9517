// @ts-check
/**
 * Compute display coordinates: the numbers that are drawn along the axes of a view. Each is computed from a
 * point by a row: the dot product of the row's weights and the point, plus an offset.
 */

import { movers, value } from "./packed.mjs";
/** @import { Params, Row } from "./engine.mjs" */

/** Write one display coordinate of n points into `out`; the coordinate of point i goes to index start +
 * i·stride. It is ⟨row.weights, point⟩ + row.offset, where `point` is the point at stage `row.stage` (at most
 * the last stage), or the current point if `row.stage` is null. If there is a row `row.over`, the result is
 * divided by the display coordinate that this row gives. @param {Row} row
 * @param {ArrayLike<number>[]} stagesOfCloud the points at each stage @param {ArrayLike<number>} now the
 * current points @param {number} n @param {Params} params the values of parameters, on which the weights may
 * depend @param {Float32Array | Float64Array} out @param {number} start @param {number} stride */
export function coordinate(row, stagesOfCloud, now, n, params, out, start, stride) {
  const points = row.stage === null ? now : stagesOfCloud[Math.min(row.stage, stagesOfCloud.length - 1)];
  const weights = Array.isArray(row.weights) ? row.weights : value(row.weights, params);
  const d = points.length / n || 1;
  const m = Math.min(d, weights.length);
  /** @type {number[]} */ const seen = [];
  for (let j = 0; j < m; j++) if (weights[j] !== 0) seen.push(j);
  if (seen.length === 1) {
    const weight = weights[seen[0]];
    const { offset: low } = row;
    for (let i = 0, at = seen[0], to = start; i < n; i++, at += d, to += stride)
      out[to] = low + weight * points[at];
  } else
    for (let i = 0, at = 0, to = start; i < n; i++, at += d, to += stride) {
      let sum = row.offset;
      for (let k = 0; k < seen.length; k++) sum += weights[seen[k]] * points[at + seen[k]];
      out[to] = sum;
    }
  if (!row.over) return;
  const by = new Float64Array(n);
  coordinate(row.over, stagesOfCloud, now, n, params, by, 0, 1);
  for (let i = 0; i < n; i++) out[start + i * stride] /= by[i];
}

/** The display coordinates of n points, one for each row: n × rows.length numbers, point by point.
 * @param {Row[]} rows @param {ArrayLike<number>[]} stagesOfCloud the points at each stage
 * @param {ArrayLike<number>} points the current points @param {number} n @param {Params} params */
export function project(rows, stagesOfCloud, points, n, params) {
  const out = new Float32Array(n * rows.length);
  rows.forEach((row, r) => coordinate(row, stagesOfCloud, points, n, params, out, r, rows.length));
  return out;
}

/** The names of the parameters that occur in the weights of rows or of their divisors (`over`). A name can
 * occur several times. @param {Row[]} rows @returns {string[]} */
export const rowMovers = (rows) =>
  rows.flatMap(({ weights, over }) => [
    ...(Array.isArray(weights) ? [] : movers(weights)),
    ...(over ? rowMovers([over]) : []),
  ]);

/** The points with the given indices, k numbers for each, in the order of `indices`. Index −1 gives k NaNs,
 * which make a gap in a line. @param {ArrayLike<number>} points @param {number} k @param {ArrayLike<number>}
 * indices */
export function gather(points, k, indices) {
  const out = new Float32Array(indices.length * k);
  for (let i = 0; i < indices.length; i++) {
    for (let r = 0; r < k; r++) out[i * k + r] = indices[i] < 0 ? NaN : points[indices[i] * k + r];
  }
  return out;
}
