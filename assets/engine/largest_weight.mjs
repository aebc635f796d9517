// @ts-check
/**
 * Compute the largest attention weight that any query can give a key, by Newton's method. This is only for
 * keys that are not selectable: no query gives them a higher score than all other keys. Pure.
 *
 * @typedef {{rows: Float64Array, size: number, n: number, d: number}} RelativeKeys n keys with d coordinates,
 *   relative to a point that serves as origin. rows: for each coordinate one row of n numbers, then one row
 *   for the product of each two coordinates, squares included, then unused rows up to a multiple of
 *   ROWS_PER_PASS; size: the largest distance of a key from that point
 */

import { dot, grown, scores, TINY } from "./vectors.mjs";

const SINGULAR_TOLERANCE = 1e-12; // added to the diagonal of the covariance, relative to its mean
const MAX_NEWTON_STEPS = 100;
const MAX_STEP_HALVINGS = 40;
const CERTAIN_GAIN = 1e-9; // a Newton step with a smaller expected gain is taken without a check
const FRAME_WEIGHT_TOLERANCE = 1e-5; // estimated error of a weight that is allowed while the figure moves
// a key whose score is lower than the highest by more than this gets weight 0: it would change no sum, and
// computing with subnormal numbers is slow
const NEGLIGIBLE_SCORE_GAP = 45;
const SUM_ROUNDINGS = 8; // the rounding error of a sum of n products is taken as this + n machine epsilons
const MAX_START_SCORE = 1e3; // a start query that gives larger scores is not used
const MAX_SERIES_SCORE = 2; // the third-order expansion is not valid for steps that change a score by more

const ROWS_SCRATCH = { buffer: new Float64Array(0) };
const SOFTMAX_SCRATCH = { buffer: new Float64Array(0) };

// how many sums are computed at once; with 7, at most one is unused in 2 or 4 dimensions
const ROWS_PER_PASS = 7;

/**
 * The n keys relative to the point `from`, and the products of each two of their coordinates, squares
 * included. The result is valid until the next call, which reuses its memory. @param {ArrayLike<number>} keys
 * @param {number} n @param {number} d the number of coordinates of a key @param {number[]} from
 * @returns {RelativeKeys}
 */
export function relativeKeys(keys, n, d, from) {
  const rows = grown(ROWS_SCRATCH, ROWS_PER_PASS * Math.ceil((d * (d + 3)) / (2 * ROWS_PER_PASS)) * n);
  let size = 0;
  for (let i = 0; i < n; i++) {
    let squares = 0;
    let row = d;
    for (let j = 0; j < d; j++) {
      const x = (rows[j * n + i] = keys[i * d + j] - from[j]);
      for (let r = 0; r <= j; r++) rows[row++ * n + i] = x * rows[r * n + i];
      squares += x * x;
    }
    if (squares > size) size = squares;
  }
  return { rows, size: Math.sqrt(size), n, d };
}

/** The mean of n keys with d coordinates each. @param {ArrayLike<number>} keys @param {number} n
 * @param {number} d */
export function middle(keys, n, d) {
  const sums = new Array(d).fill(0);
  for (let i = 0; i < n; i++) for (let j = 0; j < d; j++) sums[j] += keys[i * d + j];
  return sums.map((sum) => sum / n);
}

/**
 * The d coordinates of key k relative to the point `from` with which `relativeKeys` was called.
 * @param {RelativeKeys} all the keys @param {number} k @returns {number[]}
 */
export function coordinates({ rows, n, d }, k) {
  /** @type {number[]} */ const out = [];
  for (let j = 0; j < d; j++) out.push(rows[j * n + k]);
  return out;
}

/** Minimise L(q) = log Σ exp⟨q, k − h⟩ over the query q, by Newton's method; the sum runs over all keys k,
 * including h. If h lies inside the convex hull of the other keys, the query at the minimum gives h the
 * largest attention weight that any query can give it, e^(−min L). With the weights that this query gives to
 * the other keys, their weighted average is h. @param {RelativeKeys} all the keys @param {number[]} key h
 * @param {number[] | null} [start] a query near the minimum @param {number} [exact] the search stops when the
 * next step would lower L by at most this. By default it stops when the error of the weight is about
 * FRAME_WEIGHT_TOLERANCE or less @returns {{query: number[], value: number}} the query, and min L */
export function evenest(all, key, start, exact) {
  const { size, n, d } = all;
  let q = start?.slice() ?? new Array(d).fill(0);
  let value = moments(all, q) - dot(q, key);
  if (start && !(value < Math.log(n) && Math.sqrt(dot(q, q)) * size < MAX_START_SCORE))
    value = moments(all, q.fill(0));
  for (let step = 1; ; step++) {
    const gradient = less(SOFTMAX_MEAN, 1, key);
    const move = solve(SOFTMAX_COVARIANCE, gradient, d);
    const gain = dot(gradient, move) / 2;
    const { far, cubes } = beyond(all, move, SOFTMAX_MEAN);
    const near = far < MAX_SERIES_SCORE;
    const least = near ? value - gain - cubes / 6 : value;
    if (
      step === MAX_NEWTON_STEPS ||
      (exact ? gain <= exact : near && gain * far * far * Math.exp(-least) <= FRAME_WEIGHT_TOLERANCE)
    )
      return { query: less(q, 1, move), value: least };
    let part = 1;
    let next = q;
    let after = 0;
    for (let halved = 0; halved < MAX_STEP_HALVINGS; halved++, part /= 2) {
      next = less(q, part, move);
      after = moments(all, next) - dot(next, key);
      if (gain < CERTAIN_GAIN || after <= value - (part * gain) / 2) break;
    }
    q = next;
    value = after;
  }
}

/** The vector x − part·y. @param {number[]} x @param {number} part @param {number[]} y */
function less(x, part, y) {
  /** @type {number[]} */ const out = [];
  for (let j = 0; j < x.length; j++) out.push(x[j] - part * y[j]);
  return out;
}

/** Two numbers by which `evenest` estimates the error of the quadratic approximation of L in a Newton step.
 * For each key k, take the dot product of `move` and k − mean. `far` is the largest absolute value of these
 * products. `cubes` is the weighted mean of their cubes, which is the third derivative of L along `move`. The
 * weights are the softmax in SOFTMAX_SCRATCH, which `moments` has computed. @param {RelativeKeys} all the
 * keys k @param {number[]} move the vector that the Newton step subtracts from the query
 * @param {number[]} mean the weighted mean of the keys */
function beyond({ rows, n, d }, move, mean) {
  const { buffer: p } = SOFTMAX_SCRATCH;
  const from = dot(move, mean);
  let far = 0;
  let cubes = 0;
  for (let i = 0; i < n; i++) {
    let along = -from;
    for (let j = 0; j < d; j++) along += move[j] * rows[j * n + i];
    if (along > far || -along > far) far = Math.abs(along);
    cubes += p[i] * along * along * along;
  }
  return { far, cubes };
}

const EXP_TABLE_STEPS = 128; // table entries per unit
const EXP_TABLE = Float64Array.from({ length: NEGLIGIBLE_SCORE_GAP * EXP_TABLE_STEPS + 1 }, (_, k) =>
  Math.exp(-k / EXP_TABLE_STEPS),
);

/** The exponential e^x for −NEGLIGIBLE_SCORE_GAP ≤ x ≤ 0, by a table and a short series. It is accurate to a
 * few rounding errors, and three times as fast as `Math.exp`. @param {number} x */
function exp(x) {
  const k = (0.5 - EXP_TABLE_STEPS * x) | 0;
  const t = x + k / EXP_TABLE_STEPS;
  return EXP_TABLE[k] * (1 + t * (1 + t * (1 / 2 + t * (1 / 6 + t * (1 / 24 + t / 120)))));
}

/** Compute the softmax of the scores ⟨q, k⟩ of all n keys k. Returns `p`, whose first n numbers are the
 * softmax, and `value`, which is log Σ exp⟨q, k⟩. The array `p` is SOFTMAX_SCRATCH, which the next call
 * overwrites. @param {RelativeKeys} all the keys @param {number[]} q the query */
export function softmax({ rows, n, d }, q) {
  const p = grown(SOFTMAX_SCRATCH, n);
  const highest = scores(rows, n, d, q, p);
  let sum = 0;
  for (let i = 0; i < n; i++) sum += p[i] = p[i] > highest - NEGLIGIBLE_SCORE_GAP ? exp(p[i] - highest) : 0;
  for (let i = 0; i < n; i++) p[i] /= sum;
  return { p, value: highest + Math.log(sum) };
}

/** Results of the last call of `moments` (explained there), and the sums that it computes on the way. These
 * arrays are reused, so that a frame allocates no memory. */
const SOFTMAX_MEAN = /** @type {number[]} */ ([]);
const SOFTMAX_COVARIANCE = /** @type {number[]} */ ([]);
const ROW_SUMS = /** @type {number[]} */ ([]);

/** Return log Σ exp⟨q, k⟩ over all keys k, and compute its gradient and its curvature at q. These are the
 * mean and the covariance of the keys, weighted by the softmax of their scores. They are left in SOFTMAX_MEAN
 * and SOFTMAX_COVARIANCE (lower half), the softmax in SOFTMAX_SCRATCH. A small number is added to the
 * diagonal of the covariance (a ridge), so that it is invertible even if the keys do not vary in some
 * direction. ROWS_PER_PASS sums are computed in one loop, so that the processor need not wait for one
 * addition before the next. @param {RelativeKeys} all @param {number[]} q */
function moments(all, q) {
  const { rows, n, d } = all;
  const { p, value } = softmax(all, q);
  for (let f = 0; f < (d * (d + 3)) / 2; f += ROWS_PER_PASS) {
    let a = 0;
    let b = 0;
    let c = 0;
    let e = 0;
    let g = 0;
    let h = 0;
    let k = 0;
    for (let i = 0, o = f * n; i < n; i++, o++) {
      const weight = p[i];
      a += weight * rows[o];
      b += weight * rows[o + n];
      c += weight * rows[o + 2 * n];
      e += weight * rows[o + 3 * n];
      g += weight * rows[o + 4 * n];
      h += weight * rows[o + 5 * n];
      k += weight * rows[o + 6 * n];
    }
    ROW_SUMS[f] = a;
    ROW_SUMS[f + 1] = b;
    ROW_SUMS[f + 2] = c;
    ROW_SUMS[f + 3] = e;
    ROW_SUMS[f + 4] = g;
    ROW_SUMS[f + 5] = h;
    ROW_SUMS[f + 6] = k;
  }
  SOFTMAX_MEAN.length = d;
  SOFTMAX_COVARIANCE.length = d * d;
  for (let j = 0; j < d; j++) SOFTMAX_MEAN[j] = ROW_SUMS[j];
  let trace = 0;
  for (let j = 0, row = d; j < d; j++) {
    for (let r = 0; r < d; r++)
      SOFTMAX_COVARIANCE[j * d + r] = r > j ? 0 : ROW_SUMS[row++] - SOFTMAX_MEAN[j] * SOFTMAX_MEAN[r];
    trace += SOFTMAX_COVARIANCE[j * d + j];
  }
  // the ridge covers the rounding error of the subtraction
  const ridge =
    (SINGULAR_TOLERANCE * trace) / d +
    (SUM_ROUNDINGS + n) * Number.EPSILON * dot(SOFTMAX_MEAN, SOFTMAX_MEAN) +
    TINY;
  for (let j = 0; j < d; j++) SOFTMAX_COVARIANCE[j * d + j] += ridge;
  return value;
}

/** Solve A·x = b for a positive definite d × d matrix A, by Cholesky decomposition. Reads only the lower half
 * of A, and overwrites it with the Cholesky factor. @param {number[]} A @param {number[]} b @param {number} d
 */
function solve(A, b, d) {
  const x = b.slice();
  for (let j = 0; j < d; j++) {
    for (let r = 0; r <= j; r++) {
      let sum = A[j * d + r];
      for (let t = 0; t < r; t++) sum -= A[j * d + t] * A[r * d + t];
      A[j * d + r] = r < j ? sum / A[r * d + r] : Math.sqrt(Math.max(sum, TINY));
    }
    for (let t = 0; t < j; t++) x[j] -= A[j * d + t] * x[t];
    x[j] /= A[j * d + j];
  }
  for (let j = d - 1; j >= 0; j--) {
    for (let t = j + 1; t < d; t++) x[j] -= A[t * d + j] * x[t];
    x[j] /= A[j * d + j];
  }
  return x;
}
