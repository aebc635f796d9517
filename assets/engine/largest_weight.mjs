// @ts-check
/**
 * The largest weight that attention can give a key that no query selects, by Newton's method. Pure.
 *
 * @typedef {{rows: Float64Array, size: number, n: number, d: number}} Seen keys from a place: their
 * coordinates one after the other,
 *   then the products of each two, in sevens; and how far the farthest is */

import { dot, scores, scratch, TINY } from "./vectors.mjs";

const SINGULAR = 1e-12;
const STEPS = 100;
const HALVINGS = 40;
const SURE = 1e-9;
const LIVE = 1e-5; // of all, of a weight: what three orders along the last step leave
// below the highest score: a weight that changes no sum; numbers that are too small are slow, too
const NOTHING = 45;
const ROUNDING = 8; // in units of the last place, of a sum of a product; of many, one more of each
const FAR = 1e3; // scores, of a start: where the keys have come together it may be anywhere
const NEAR = 2; // of scores: three orders say nothing about a longer step

const ALL = { buffer: new Float64Array(0) };
const P = { buffer: new Float64Array(0) };

const ROWS = 7; // that are summed at once: of a point in 2 or 4 dimensions no sum is for nothing, or one

/** @param {ArrayLike<number>} keys @param {number} n @param {number} d @param {number[]} from @returns {Seen}
 */
export function seen(keys, n, d, from) {
  const rows = scratch(ALL, ROWS * Math.ceil((d * (d + 3)) / (2 * ROWS)) * n);
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

/** The mean of all keys. @param {ArrayLike<number>} keys @param {number} n @param {number} d */
export function middle(keys, n, d) {
  const sums = new Array(d).fill(0);
  for (let i = 0; i < n; i++) for (let j = 0; j < d; j++) sums[j] += keys[i * d + j];
  return sums.map((sum) => sum / n);
}

/** @param {Seen} all @param {number} k @returns {number[]} */
export function coordinates({ rows, n, d }, k) {
  /** @type {number[]} */ const out = [];
  for (let j = 0; j < d; j++) out.push(rows[j * n + k]);
  return out;
}

/** The q that minimises L(q) = log Σ exp⟨q, k − h⟩ over all keys k, h itself too, by Newton's method: where
 * others surround h, its largest weight is e^(−L), and the softmax averages the others to h.
 * @param {Seen} all @param {number[]} key h @param {number[] | null} [start] @param {number} [exact] what the
 * last step gains, else L is as near as a frame needs @returns {{query: number[], value: number}} */
export function evenest(all, key, start, exact) {
  const { size, n, d } = all;
  let q = start?.slice() ?? new Array(d).fill(0);
  let value = moments(all, q) - dot(q, key);
  if (start && !(value < Math.log(n) && Math.sqrt(dot(q, q)) * size < FAR)) value = moments(all, q.fill(0));
  for (let step = 1; ; step++) {
    const gradient = less(MEAN, 1, key);
    const move = solve(SPREAD, gradient, d);
    const gain = dot(gradient, move) / 2;
    const { far, cubes } = beyond(all, move, MEAN);
    const near = far < NEAR;
    const least = near ? value - gain - cubes / 6 : value;
    if (step === STEPS || (exact ? gain <= exact : near && gain * far * far * Math.exp(-least) <= LIVE))
      return { query: less(q, 1, move), value: least };
    let part = 1;
    let next = q;
    let after = 0;
    for (let halved = 0; halved < HALVINGS; halved++, part /= 2) {
      next = less(q, part, move);
      after = moments(all, next) - dot(next, key);
      if (gain < SURE || after <= value - (part * gain) / 2) break;
    }
    q = next;
    value = after;
  }
}

/** x − part·y. @param {number[]} x @param {number} part @param {number[]} y */
function less(x, part, y) {
  /** @type {number[]} */ const out = [];
  for (let j = 0; j < x.length; j++) out.push(x[j] - part * y[j]);
  return out;
}

/** How far the step takes a score from the mean of all at most, and the mean cube of it: the third order of L
 * along the step. The softmax is in `P`. @param {Seen} all @param {number[]} move @param {number[]} mean */
function beyond({ rows, n, d }, move, mean) {
  const { buffer: p } = P;
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

const FINE = 128; // places from one number to the next where the exponential is known
const EXP = Float64Array.from({ length: NOTHING * FINE + 1 }, (_, k) => Math.exp(-k / FINE));

/** e^x from −`NOTHING` to 0, by the nearest place: to some roundings, in a third of the time of `Math.exp`.
 * @param {number} x */
function exp(x) {
  const k = (0.5 - FINE * x) | 0;
  const t = x + k / FINE;
  return EXP[k] * (1 + t * (1 + t * (1 / 2 + t * (1 / 6 + t * (1 / 24 + t / 120)))));
}

/** The softmax of ⟨q, k⟩, in `P`, and log Σ exp. @param {Seen} all @param {number[]} q */
export function softmax({ rows, n, d }, q) {
  const p = scratch(P, n);
  const highest = scores(rows, n, d, q, p);
  let sum = 0;
  for (let i = 0; i < n; i++) sum += p[i] = p[i] > highest - NOTHING ? exp(p[i] - highest) : 0;
  for (let i = 0; i < n; i++) p[i] /= sum;
  return { p, value: highest + Math.log(sum) };
}

/** The mean and the covariance that were found last, so that a frame asks for no memory. */
const MEAN = /** @type {number[]} */ ([]);
const SPREAD = /** @type {number[]} */ ([]);
const SUMS = /** @type {number[]} */ ([]);

/** log Σ exp⟨q, k⟩; its gradient and its curvature: the mean of the softmax, which is left in `P`, in `MEAN`,
 * and its covariance in `SPREAD`, with a ridge where the keys do not spread. `ROWS` sums at once, which do
 * not wait for one another. @param {Seen} all @param {number[]} q */
function moments(all, q) {
  const { rows, n, d } = all;
  const { p, value } = softmax(all, q);
  for (let f = 0; f < (d * (d + 3)) / 2; f += ROWS) {
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
    SUMS[f] = a;
    SUMS[f + 1] = b;
    SUMS[f + 2] = c;
    SUMS[f + 3] = e;
    SUMS[f + 4] = g;
    SUMS[f + 5] = h;
    SUMS[f + 6] = k;
  }
  MEAN.length = d;
  SPREAD.length = d * d;
  for (let j = 0; j < d; j++) MEAN[j] = SUMS[j];
  let trace = 0;
  for (let j = 0, row = d; j < d; j++) {
    for (let r = 0; r < d; r++) SPREAD[j * d + r] = r > j ? 0 : SUMS[row++] - MEAN[j] * MEAN[r];
    trace += SPREAD[j * d + j];
  }
  // a covariance is known to the rounding of what is taken away
  const ridge = (SINGULAR * trace) / d + (ROUNDING + n) * Number.EPSILON * dot(MEAN, MEAN) + TINY;
  for (let j = 0; j < d; j++) SPREAD[j * d + j] += ridge;
  return value;
}

/** A⁻¹·b of a positive matrix, whose lower half becomes its Cholesky factor. @param {number[]} A
 * @param {number[]} b @param {number} d */
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
