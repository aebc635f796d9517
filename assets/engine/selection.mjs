// @ts-check
/**
 * Which keys attention can select, and the largest weight that it can give each. Mirrors
 * geometry/selection.py. Pure.
 *
 * @typedef {{margin: number, query: number[], weights: Float64Array, largest: number}} Certificate of one
 *   key. Selectable: its distance to the hull of the others (margin), and the query that leads by it. Else
 *   the most even weights with which the others average to it, the query at which its own weight is largest,
 *   and that weight
 * @typedef {{query: number[] | null, among: number[]}} Proof whether a key is selectable: a query that scores
 *   it higher than every other, or null; and at most d + 1 other keys, whose hull contains the point nearest
 *   to it, or which average to it
 * @typedef {{keys: import("./image.mjs").Points, wins: boolean[], proofs: Proof[]}} Selection which keys
 *   can be selected (wins), with proofs
 * @typedef {{selection: Selection, largest: Float64Array, queries: number[][], steps: number[][] | null}}
 *   Weights the largest weight of each key, 1 for selectable ones; for the others a query near that of the
 *   largest weight, and its change since the previous moment
 */

import { image } from "./image.mjs";
import { coordinates, evenest, middle, seen, softmax } from "./largest_weight.mjs";
import { LEAD_TOLERANCE, flat, lead, mixed } from "./nearest_point.mjs";
import { dot, grown, scores } from "./vectors.mjs";

/** @typedef {import("./largest_weight.mjs").Seen} Seen */

const EXACT_GAIN = 1e-20; // gain below which a Newton step of `certificate` is the last
// smaller weights are remains of 0: on the edge of a hull the most even weights are a limit
const MIN_WEIGHT = 1e-10;

const SCORES_SCRATCH = { buffer: new Float64Array(0) };
const OFFSETS_SCRATCH = { buffer: new Float64Array(0) };

/** Decide for each of n keys whether a query selects it; reuses proofs of the previous moment that still
 * hold. @param {import("./image.mjs").Points} keys @param {number} n @param {number} d
 * @param {Selection} [before] @returns {Selection} */
export function selection(keys, n, d, before) {
  const moved = before && image(before.keys, keys, n, d);
  if (before && moved)
    return {
      ...before,
      keys,
      proofs: before.proofs.map(({ query, among }) => ({ query: query && moved.query(query), among })),
    };
  const all = seen(keys, n, d, middle(keys, n, d));
  const proofs = Array.from({ length: n }, (_, k) => fate(keys, all, k, before?.proofs[k]));
  return { keys, wins: proofs.map(({ query }) => query !== null), proofs };
}

/**
 * Decide whether key k can be selected: by the earlier proof, by two obvious queries, or by Wolfe's
 * algorithm.
 * @param {ArrayLike<number>} keys @param {Seen} all @param {number} k @param {Proof} [before] @returns
 * {Proof}
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

/** Whether a query certainly scores key k higher than every other. @param {Seen} all @param {number} k
 * @param {number[]} query */
function leads({ rows, size, n, d }, k, query) {
  const p = grown(SCORES_SCRATCH, n);
  scores(rows, n, d, query, p);
  const own = p[k] - 2 * LEAD_TOLERANCE * size * Math.sqrt(dot(query, query));
  for (let i = 0; i < n; i++) if (i !== k && !(p[i] < own)) return false;
  return true;
}

/** Whether key k is an average of these keys with positive weights, up to rounding.
 * @param {ArrayLike<number>} keys @param {number} d @param {number} k @param {number[]} among */
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

/** The largest weight that attention can give each key. The search starts from the query of the previous
 * moment, extrapolated. @param {Selection} selection @param {number} n @param {number} d
 * @param {Weights} [before] @returns {Weights} */
export function weights(selection, n, d, before) {
  const { keys, wins } = selection;
  const moved = before && image(before.selection.keys, keys, n, d);
  if (before && moved)
    return { selection, largest: before.largest, queries: before.queries.map(moved.query), steps: null };
  const all = seen(keys, n, d, middle(keys, n, d));
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
 * The proof of how much attention key k can get.
 * @param {ArrayLike<number>} keys @param {number} n @param {number} d @param {number} k @returns
 * {Certificate}
 */
export function certificate(keys, n, d, k) {
  const weights = new Float64Array(n);
  if (n < 2) return { margin: Infinity, query: new Array(d).fill(0), weights, largest: 1 };
  const { margin, query: best } = lead(keys, n, d, k);
  if (margin > 0) return { margin, query: best, weights, largest: 1 };
  const all = seen(
    keys,
    n,
    d,
    Array.from({ length: d }, (_, j) => keys[k * d + j]),
  );
  const { query, value } = evenest(all, coordinates(all, k), null, EXACT_GAIN);
  const { p } = softmax(all, query);
  const others = 1 - p[k];
  for (let i = 0; i < n; i++) if (i !== k && p[i] >= MIN_WEIGHT * others) weights[i] = p[i] / others;
  return { margin: 0, query, weights, largest: Math.exp(-value) };
}
