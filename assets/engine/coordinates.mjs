// @ts-check
/**
 * Display coordinates: points multiplied by the rows (weights) of a view's axes.
 *
 * @typedef {import("./engine.mjs").Params} Params
 * @typedef {import("./engine.mjs").Row} Row
 */

import { movers, value } from "./packed.mjs";

/** Write one display coordinate of n points to out[start + i·stride]: ⟨weights, point⟩ + row.offset, of the
 * current points or of a fixed stage, divided by the coordinate of `row.over` if there is one.
 * @param {Row} row @param {ArrayLike<number>[]} stagesOfCloud @param {ArrayLike<number>} now
 * @param {number} n @param {Params} params @param {Float32Array} out @param {number} start
 * @param {number} stride */
function coordinate(row, stagesOfCloud, now, n, params, out, start, stride) {
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
  const by = new Float32Array(n);
  coordinate(row.over, stagesOfCloud, now, n, params, by, 0, 1);
  for (let i = 0; i < n; i++) out[start + i * stride] /= by[i];
}

/** All display coordinates of n points. @param {Row[]} rows @param {ArrayLike<number>[]} stagesOfCloud
 * @param {ArrayLike<number>} points @param {number} n @param {Params} params */
export function project(rows, stagesOfCloud, points, n, params) {
  const out = new Float32Array(n * rows.length);
  rows.forEach((row, r) => coordinate(row, stagesOfCloud, points, n, params, out, r, rows.length));
  return out;
}

/** The names of the parameters that move rows. @param {Row[]} rows @returns {string[]} */
export const rowMovers = (rows) =>
  rows.flatMap(({ weights, over }) => [
    ...(Array.isArray(weights) ? [] : movers(weights)),
    ...(over ? rowMovers([over]) : []),
  ]);

/** The values of `points` (k numbers each) in the order of `indices`; index −1 gives a gap.
 * @param {ArrayLike<number>} points @param {number} k @param {ArrayLike<number>} indices */
export function gather(points, k, indices) {
  const out = new Float32Array(indices.length * k);
  for (let i = 0; i < indices.length; i++) {
    for (let r = 0; r < k; r++) out[i * k + r] = indices[i] < 0 ? NaN : points[indices[i] * k + r];
  }
  return out;
}
