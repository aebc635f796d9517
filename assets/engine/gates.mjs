// @ts-check
/** Compute the effect of a ReLU layer, x ↦ max(Wx + b, 0), on the points of a circle or sphere around the
 * origin. The fate of a point says whether other points of the circle or sphere have the same image as this
 * point. A piece is a set of points at which the same neurons are active (positive); the layer is linear on
 * each piece. The rank of a piece is the rank of the matrix of the rows of W that belong to its active
 * neurons. Mirrors geometry/gates.py. Pure. */

import { dot } from "./vectors.mjs";

// The possible fates of a point: no other point has the same image; some other points have; all points of its
// linear piece have
export const FATES = ["apart", "shared", "collapsed"];
const [APART, SHARED, COLLAPSED] = [0, 1, 2];
const MAX_EXACT_BITS = 52; // a JavaScript number can hold every integer with this number of bits
// lengths up to this share of the length of W's longest row count as 0, and so do differences of angles up to
// this number of radians
const ROUNDING_TOLERANCE = 1e-9;

/** @typedef {{W: number[][], b: ArrayLike<number>}} Layer a row of W for each of at most 52 neurons */

/** The fate of each point of a circle or sphere, as an index of FATES (`fateOf`), and the rank of its linear
 * piece (`ranks`). `highest` is the number n of coordinates of a point, which no rank exceeds.
 * @param {Layer} layer @param {ArrayLike<number>} x the points (count × n) @param {ArrayLike<number>} z Wx +
 * b of each point (count × number of neurons) @param {number} count */
export function fates({ W }, x, z, count) {
  const n = x.length / count || 1;
  const m = W.length;
  const fateOf = new Uint8Array(count);
  const ranks = new Uint8Array(count);
  const least = ROUNDING_TOLERANCE * size(W);
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
    let squared = 0;
    for (let j = 0; j < n; j++) {
      part += 2 * piece.unseen[j] * x[i * n + j];
      squared += x[i * n + j] * x[i * n + j];
    }
    const isOwnMirror = Math.abs(part) <= 2 * ROUNDING_TOLERANCE * Math.sqrt(squared);
    for (let k = m - 1; k >= 0; k--) across = 2 * across + (z[i * m + k] - part * piece.along[k] > 0 ? 1 : 0);
    if (isOwnMirror || across !== on) fateOf[i] = APART;
  }
  return { fateOf, ranks, highest: n };
}

/** @typedef {{rank: number, fate: number, unseen: number[] | null, along: number[]}} Piece a linear piece of
 *   the layer. unseen: the direction that the active neurons map to 0, if there is exactly one; along: the
 *   slope of each neuron in this direction */

/** The linear piece on which exactly the neurons in `on` are active. `on` is a bit mask: neuron k is bit k.
 * @param {number[][]} W @param {number} on @param {number} n the number of columns of W @param {number} least
 * lengths up to this are rounding errors @returns {Piece} */
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

/** An orthonormal basis of the span of some rows, by Gram–Schmidt. The remainder of a row, after its
 * components along the basis are subtracted, counts as 0 if it is at most `least` long.
 * @param {number[][]} rows @param {number} n the number of coordinates @param {number} least
 * @returns {number[][]} */
function directions(rows, n, least) {
  /** @type {number[][]} */ const basis = [];
  for (let left = rows; left.length && basis.length < n;) {
    const lengths = left.map((row) => Math.hypot(...row));
    const longest = Math.max(...lengths);
    if (longest <= least) break;
    const next = left[lengths.indexOf(longest)].map((x) => x / longest);
    basis.push(next);
    left = left.map((row) => less(row, next));
  }
  return basis;
}

/** One of the two unit vectors in n dimensions that are orthogonal to n − 1 given orthonormal vectors. @param
 * {number[][]} seen the orthonormal vectors @param {number} n */
function across(seen, n) {
  const axes = Array.from({ length: n }, (_, k) => Array.from({ length: n }, (_, j) => Number(j === k)));
  return directions(
    axes.map((axis) => seen.reduce(less, axis)),
    n,
    0,
  )[0];
}

/** The vector x without its component along a unit vector. @param {number[]} x @param {number[]} along the
 * unit vector */
function less(x, along) {
  const part = dot(x, along);
  return x.map((each, j) => each - part * along[j]);
}

/** The length of the longest row of a matrix. @param {number[][]} W */
const size = (W) => Math.max(0, ...W.map((w) => Math.hypot(...w)));

/** The number of linear pieces into which a layer divides a circle around the origin: 1 or more. A neuron
 * changes sign at two points of the circle or at none; these points cut the circle into arcs.
 * @param {Layer} layer with W (m × 2) @param {number} radius the radius of the circle */
export function pieces({ W, b }, radius) {
  const whole = 2 * Math.PI;
  const at = W.flatMap((w, k) => {
    const far = radius * Math.hypot(...w);
    const toward = Math.atan2(w[1], w[0]);
    if (!(Math.abs(b[k]) < far)) return [];
    const half = Math.acos(-b[k] / far);
    return [toward - half, toward + half].map((angle) => ((angle % whole) + whole) % whole);
  }).sort((x, y) => x - y);
  const once = at.filter((x, k) => (k ? x - at[k - 1] > ROUNDING_TOLERANCE : true));
  if (once.length > 1 && once[0] + whole - once[once.length - 1] <= ROUNDING_TOLERANCE) once.pop();
  return Math.max(1, once.length);
}

/** Count the sign patterns of points. A point's pattern says which of its coordinates are positive; 0 counts
 * as negative. Returns the number of different patterns (`count`), and the entropy of their frequencies, in
 * bits (`bits`). @param {ArrayLike<number>} x the points, one after the other @param {number} count the
 * number of points */
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
