// @ts-check
/** Which points of a circle or sphere around the origin a ReLU layer, x ↦ max(Wx + b, 0), keeps apart.
 * Mirrors geometry/gates.py. Pure. */

import { dot } from "./vectors.mjs";

export const FATES = ["apart", "shared", "collapsed"];
const [APART, SHARED, COLLAPSED] = [0, 1, 2];
const MAX_EXACT_BITS = 52; // of an integer that a number can hold
const RANK_TOLERANCE = 1e-9; // in lengths of the longest row: smaller differences are rounding

/** @typedef {{W: number[][], b: ArrayLike<number>}} Layer a row of W for each of at most 52 neurons */

/** The fate (an index of FATES) of each point, and the rank of its linear piece. @param {Layer} layer
 * @param {ArrayLike<number>} x points of a sphere (count × n) @param {ArrayLike<number>} z Wx + b of each
 * point @param {number} count */
export function fates({ W }, x, z, count) {
  const n = x.length / count || 1;
  const m = W.length;
  const fateOf = new Uint8Array(count);
  const ranks = new Uint8Array(count);
  const least = RANK_TOLERANCE * size(W);
  /** @type {Map<number, Piece>} */ const known = new Map();
  for (let i = 0; i < count; i++) {
    let on = 0;
    for (let k = m - 1; k >= 0; k--) on = 2 * on + (z[i * m + k] > 0 ? 1 : 0);
    let piece = known.get(on);
    if (!piece) known.set(on, (piece = pieceOf(W, on, n, least)));
    fateOf[i] = piece.fate;
    ranks[i] = piece.rank;
    if (!piece.unseen) continue;
    let part = 0;
    let across = 0;
    for (let j = 0; j < n; j++) part += 2 * piece.unseen[j] * x[i * n + j];
    for (let k = m - 1; k >= 0; k--) across = 2 * across + (z[i * m + k] - part * piece.along[k] > 0 ? 1 : 0);
    if (across !== on) fateOf[i] = APART;
  }
  return { fateOf, ranks, highest: n };
}

/** @typedef {{rank: number, fate: number, unseen: number[] | null, along: number[]}} Piece of linearity.
 * unseen: the direction that the active neurons map to 0, if it is unique; along: each neuron's slope along
 * it */

/** The linear piece on which a given set of neurons, one bit each, is active. @param {number[][]} W
 * @param {number} on @param {number} n @param {number} least @returns {Piece} */
function pieceOf(W, on, n, least) {
  const seen = directions(
    W.filter((_, k) => Math.floor(on / 2 ** k) % 2),
    n,
    least,
  );
  const rank = seen.length;
  const unseen = rank && rank === n - 1 ? across(seen, n) : null;
  return {
    rank,
    fate: rank === n ? APART : rank ? SHARED : COLLAPSED,
    unseen,
    along: unseen ? W.map((w) => dot(w, unseen)) : [],
  };
}

/** An orthonormal basis of the rows' span; remainders shorter than `least` count as 0.
 * @param {number[][]} rows @param {number} n @param {number} least @returns {number[][]} */
function directions(rows, n, least) {
  /** @type {number[][]} */ const found = [];
  for (let left = rows; left.length && found.length < n;) {
    const lengths = left.map((row) => Math.hypot(...row));
    const longest = Math.max(...lengths);
    if (longest <= least) break;
    const next = left[lengths.indexOf(longest)].map((x) => x / longest);
    found.push(next);
    left = left.map((row) => less(row, next));
  }
  return found;
}

/** The direction orthogonal to n − 1 given ones. @param {number[][]} seen @param {number} n */
function across(seen, n) {
  const axes = Array.from({ length: n }, (_, k) => Array.from({ length: n }, (_, j) => Number(j === k)));
  return directions(
    axes.map((axis) => seen.reduce(less, axis)),
    n,
    0,
  )[0];
}

/** x without its component along a unit vector. @param {number[]} x @param {number[]} along */
function less(x, along) {
  const part = dot(x, along);
  return x.map((each, j) => each - part * along[j]);
}

/** The length of the longest row. @param {number[][]} W */
const size = (W) => Math.max(0, ...W.map((w) => Math.hypot(...w)));

/** The number of pieces into which the neurons cut a circle. @param {Layer} layer with W (m × 2)
 * @param {number} radius */
export function pieces({ W, b }, radius) {
  const whole = 2 * Math.PI;
  const at = W.flatMap((w, k) => {
    const far = radius * Math.hypot(...w);
    const toward = Math.atan2(w[1], w[0]);
    if (!(Math.abs(b[k]) < far)) return [];
    const half = Math.acos(-b[k] / far);
    return [toward - half, toward + half].map((angle) => ((angle % whole) + whole) % whole);
  }).sort((x, y) => x - y);
  const once = at.filter((x, k) => (k ? x - at[k - 1] > RANK_TOLERANCE : true));
  if (once.length > 1 && once[0] + whole - once[once.length - 1] <= RANK_TOLERANCE) once.pop();
  return Math.max(1, once.length);
}

/** The number of different sign patterns of points, and the entropy of their frequencies in bits.
 * @param {ArrayLike<number>} x @param {number} count */
export function patterns(x, count) {
  const m = x.length / count || 1;
  /** @type {Map<string | number, number>} */ const patternCounts = new Map();
  for (let i = 0; i < count; i++) {
    /** @type {string | number} a bit for each coordinate, as long as a number has room for them */
    let signs = m > MAX_EXACT_BITS ? "" : 0;
    if (typeof signs === "string") for (let j = 0; j < m; j++) signs += x[i * m + j] > 0 ? "1" : "0";
    else for (let j = 0; j < m; j++) signs = 2 * signs + (x[i * m + j] > 0 ? 1 : 0);
    patternCounts.set(signs, (patternCounts.get(signs) ?? 0) + 1);
  }
  let bits = 0;
  for (const times of patternCounts.values()) bits -= (times / count) * Math.log2(times / count);
  return { count: patternCounts.size, bits };
}
