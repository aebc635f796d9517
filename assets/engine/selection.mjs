// @ts-check
/**
 * Decide which keys attention can select, and compute the largest weight that it can give each key. Mirrors
 * geometry/selection.py. Pure.
 *
 * A key is selectable if some query gives it a higher score than every other key. If that query is made
 * longer, the weight of the key comes as near to 1 as one likes.
 *
 * @typedef {{margin: number, query: number[], weights: Float64Array, largest: number}} Certificate of one
 *   key. If the key is selectable, margin: its distance from the hull of the other keys; query: the query of
 *   length 1 for which its score exceeds all others by this margin; largest: 1; weights: all 0. If it is not
 *   selectable, margin: 0; query: the query at which its attention weight is largest; largest: this weight;
 *   weights: a weight for each other key, so that the weighted average of the other keys is this key. Many
 *   such weights exist; these are the most even ones
 * @typedef {{query: number[] | null, among: number[]}} Proof whether a key is selectable: a query that gives
 *   it a higher score than every other key, or null; and the indices of at most d + 1 other keys (among). A
 *   key that is not selectable is an average of the keys `among`; for a selectable key, the next search
 *   starts from them
 * @typedef {{keys: Points, wins: boolean[], proofs: Proof[]}} Selection for each key whether it is selectable
 *   (wins), and the proof
 * @typedef {{selection: Selection, largest: Float64Array, queries: number[][], steps: number[][] | null}}
 *   Weights for each key the largest attention weight that a query can give it, which is 1 if it is
 *   selectable. For each key that is not selectable, also a query near the one that gives this largest weight
 *   (queries), and the change of that query since the previous moment (steps). steps is null if all keys have
 *   been moved by an affine map since then
 */

import { affineMap } from "./affine_map.mjs";
import { coordinates, evenest, middle, relativeKeys, softmax } from "./largest_weight.mjs";
import { LEAD_TOLERANCE, flat, lead, mixed } from "./nearest_point.mjs";
import { dot, grown, scores } from "./vectors.mjs";
/** @import { Points } from "./affine_map.mjs" */
/** @import { RelativeKeys } from "./largest_weight.mjs" */

const EXACT_GAIN = 1e-20; // a Newton step of `certificate` with a smaller expected gain is the last one
// Weights below this share of the sum of the other keys' weights count as 0. For a key on the boundary of a
// hull some weights are 0 only in the limit, which Newton's method does not reach
const MIN_WEIGHT = 1e-10;

const SCORES_SCRATCH = { buffer: new Float64Array(0) };
const OFFSETS_SCRATCH = { buffer: new Float64Array(0) };

/** Decide for each of n keys whether some query selects it. Proofs of the previous moment that still hold are
 * reused. @param {Points} keys @param {number} n @param {number} d the number of coordinates of a key
 * @param {Selection} [before] the result for the same keys at the previous moment @returns {Selection} */
export function selection(keys, n, d, before) {
  const moved = before && affineMap(before.keys, keys, n, d);
  if (before && moved)
    return {
      ...before,
      keys,
      proofs: before.proofs.map(({ query, among }) => ({ query: query && moved.query(query), among })),
    };
  const all = relativeKeys(keys, n, d, middle(keys, n, d));
  const proofs = Array.from({ length: n }, (_, k) => fate(keys, all, k, before?.proofs[k]));
  return { keys, wins: proofs.map(({ query }) => query !== null), proofs };
}

/**
 * Decide whether key k is selectable. Tries, in this order: the proof of the previous moment; two obvious
 * queries, the key itself and its offset from the mean of all keys; and Wolfe's algorithm.
 * @param {ArrayLike<number>} keys @param {RelativeKeys} all the keys relative to their mean @param {number} k
 * @param {Proof} [before] the proof of the previous moment
 * @returns {Proof}
 */
function fate(keys, all, k, before) {
  const { n, d } = all;
  const among = before?.among ?? [];
  if (before && (before.query ? leads(all, k, before.query) : surround(keys, d, k, among))) return before;
  const own = coordinates(all, k);
  for (const query of [own.map((_, j) => keys[k * d + j]), own])
    if (leads(all, k, query)) return { query, among };
  const found = lead(keys, n, d, k, among);
  return { query: found.margin > 0 ? found.query : null, among: found.among };
}

/** Whether a query gives key k a higher score than every other key, by more than rounding.
 * @param {RelativeKeys} all the keys @param {number} k @param {number[]} query */
function leads({ rows, size, n, d }, k, query) {
  const p = grown(SCORES_SCRATCH, n);
  scores(rows, n, d, query, p);
  const own = p[k] - 2 * LEAD_TOLERANCE * size * Math.sqrt(dot(query, query));
  for (let i = 0; i < n; i++) if (i !== k && !(p[i] < own)) return false;
  return true;
}

/** Whether key k is an average of the keys `among` with weights that are not negative, up to rounding.
 * @param {ArrayLike<number>} keys @param {number} d the number of coordinates of a key @param {number} k
 * @param {number[]} among the indices of other keys; if there are none, the result is false */
function surround(keys, d, k, among) {
  if (!among.length) return false;
  const count = among.length;
  const ways = grown(OFFSETS_SCRATCH, count * d);
  let farthest = 0;
  for (let s = 0, to = 0; s < count; s++) {
    let squares = 0;
    for (let j = 0; j < d; j++, to++) {
      const x = (ways[to] = keys[among[s] * d + j] - keys[k * d + j]);
      squares += x * x;
    }
    farthest = Math.max(farthest, squares);
  }
  const w = flat(ways, count, d);
  for (let s = 0; s < count; s++) if (!(w[s] >= 0)) return false;
  const rest = mixed(ways, w, count, d);
  return dot(rest, rest) <= LEAD_TOLERANCE * LEAD_TOLERANCE * farthest;
}

/** The largest attention weight that a query can give each key. The search for a key's best query starts from
 * its best query of the previous moment, plus that query's last change. @param {Selection} selection which
 * keys are selectable @param {number} n the number of keys @param {number} d the number of coordinates of a
 * key @param {Weights} [before] the result at the previous moment @returns {Weights} */
export function weights(selection, n, d, before) {
  const { keys, wins } = selection;
  const moved = before && affineMap(before.selection.keys, keys, n, d);
  if (before && moved)
    return { selection, largest: before.largest, queries: before.queries.map(moved.query), steps: null };
  const all = relativeKeys(keys, n, d, middle(keys, n, d));
  const largest = new Float64Array(n).fill(1);
  const none = new Array(d).fill(0);
  const queries = wins.map(() => none);
  const steps = wins.map(() => none);
  for (let k = 0; k < n; k++) {
    if (wins[k]) continue;
    const last = before && !before.selection.wins[k] ? before.queries[k] : null;
    const step = before?.steps?.[k] ?? none;
    const { query, value } = evenest(
      all,
      coordinates(all, k),
      last?.map((x, j) => x + step[j]),
    );
    queries[k] = query;
    if (last) steps[k] = query.map((x, j) => x - last[j]);
    largest[k] = Math.exp(-value);
  }
  return { selection, largest, queries, steps };
}

/**
 * The certificate of key k: the largest attention weight that a query can give it, with a proof. If there are
 * no other keys, the margin is infinite, the query is the zero vector, and the weight 1.
 * @param {ArrayLike<number>} keys @param {number} n the number of keys
 * @param {number} d the number of coordinates of a key @param {number} k @returns {Certificate}
 */
export function certificate(keys, n, d, k) {
  const weights = new Float64Array(n);
  if (n < 2) return { margin: Infinity, query: new Array(d).fill(0), weights, largest: 1 };
  const { margin, query: best } = lead(keys, n, d, k);
  if (margin > 0) return { margin, query: best, weights, largest: 1 };
  const all = relativeKeys(
    keys,
    n,
    d,
    Array.from({ length: d }, (_, j) => keys[k * d + j]),
  );
  mergeCopies(all);
  const { query, value } = evenest(all, coordinates(all, k), null, EXACT_GAIN);
  const { p } = softmax(all, query);
  const others = 1 - p[k];
  for (let i = 0; i < n; i++) if (i !== k && p[i] >= MIN_WEIGHT * others) weights[i] = p[i] / others;
  return { margin: 0, query, weights, largest: Math.exp(-value) };
}

/** Make keys that differ from the origin only by rounding exactly equal to it: their coordinates, and the
 * products of these, become 0. They are copies of the key at the origin. @param {RelativeKeys} all the keys,
 * relative to one of them; changed in place */
function mergeCopies({ rows, size, n, d }) {
  for (let i = 0; i < n; i++) {
    let squares = 0;
    for (let j = 0; j < d; j++) squares += rows[j * n + i] ** 2;
    if (Math.sqrt(squares) <= LEAD_TOLERANCE * size)
      for (let row = 0; row < (d * (d + 3)) / 2; row++) rows[row * n + i] = 0;
  }
}
