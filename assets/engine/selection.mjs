// @ts-check
/**
 * Which keys attention can select, and the most that it can ever give each of them, as in
 * geometry/selection.py. Pure.
 *
 * @typedef {{margin: number, query: number[], weights: Float64Array, largest: number}} Certificate of one
 *   key: the distance to the hull of the others and the query that leads by it; or else the most even weights
 *   with which the others average to it, the query at which its own weight is largest, and that weight
 * @typedef {{query: number[] | null, among: number[]}} Proof of the fate of a key: a query that scores it
 *   higher than every other, or null; and at most d + 1 others, whose hull has the point nearest to it, or
 *   that average to it
 * @typedef {{keys: import("./image.mjs").Points, wins: boolean[], proofs: Proof[]}} Selection who can be
 *   selected, and why
 * @typedef {{selection: Selection, largest: Float64Array, queries: number[][], steps: number[][] | null}}
 *   Weights the largest weight of each key, 1 of those that can be selected; of each other one a query near
 *   that of its largest weight, and how far it came since the moment before
 */

import { image } from "./image.mjs";

const APART = 1e-12;
const SINGULAR = 1e-12;
const TINY = 2 ** -1022;
const STEPS = 100;
const HALVINGS = 40;
const SURE = 1e-9;
const EXACT = 1e-20; // what Newton's step would gain where it is the last one, of one key
// a weight that is less is what is left of 0: on the edge of a hull the most even weights are a limit
const SMALL = 1e-10;
const LIVE = 1e-5; // of all, of a weight: what three orders along the last step leave
// below the highest score: a weight that changes no sum; numbers that are too small are slow, too
const NOTHING = 45;
const ROUNDING = 8; // in units of the last place, of a sum of a product; of many, one more of each
const FAR = 1e3; // scores, of a start: where the keys have come together it may be anywhere
const NEAR = 2; // of scores: three orders say nothing about a longer step

/** Which of n keys can be selected; a proof of a moment before that still holds is one.
 * @param {import("./image.mjs").Points} keys @param {number} n @param {number} d @param {Selection} [before]
 *   @returns {Selection}
 */
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
 * @param {ArrayLike<number>} keys
 * @param {Seen} all
 * @param {number} k
 * @param {Proof} [before]
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

/** Whether keys average to the key k with weights above 0, to less than a query could tell.
 * @param {ArrayLike<number>} keys @param {number} d @param {number} k @param {number[]} among */
function surround(keys, d, k, among) {
  if (!among.length) return false;
  const count = among.length;
  const ways = scratch(WAYS, count * d);
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
  return dot(rest, rest) <= APART * APART * farthest;
}

/**
 * The most that attention can give each key; where a key that loses had a query a moment before, it is taken
 * to go on as it went.
 * @param {Selection} selection @param {number} n @param {number} d @param {Weights} [before] @returns
 *   {Weights}
 */
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
 * @param {ArrayLike<number>} keys
 * @param {number} n
 * @param {number} d
 * @param {number} k
 * @returns {Certificate}
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
  const { query, value } = evenest(all, coordinates(all, k), null, EXACT);
  const { p } = softmax(all, query);
  const others = 1 - p[k];
  for (let i = 0; i < n; i++) if (i !== k && p[i] >= SMALL * others) weights[i] = p[i] / others;
  return { margin: 0, query, weights, largest: Math.exp(-value) };
}

/** Numbers that are used again, so that a frame asks for no memory. */
const AWAY = { buffer: new Float64Array(0) };
const P = { buffer: new Float64Array(0) };
const ALL = { buffer: new Float64Array(0) };
const WAYS = { buffer: new Float64Array(0) };
const AXES = { buffer: new Float64Array(0) };
const R = { buffer: new Float64Array(0) };

/** @param {{buffer: Float64Array}} kept @param {number} length */
function scratch(kept, length) {
  if (kept.buffer.length < length) kept.buffer = new Float64Array(length);
  return kept.buffer;
}

/** @param {number[]} x @param {number[]} y */
function dot(x, y) {
  let sum = 0;
  for (let j = 0; j < x.length; j++) sum += x[j] * y[j];
  return sum;
}

// A query that selects a key

/**
 * @typedef {{away: Float64Array, size: number, n: number, d: number}} Around a key: the way to each other
 * key, one coordinate
 *   after the other, and how far the farthest is */

/**
 * The unit query that scores a key higher than every other by most, and by how much: 0 where none does; and
 * the keys whose hull
 * has the point nearest to it. @param {ArrayLike<number>} keys
 * @param {number} n @param {number} d @param {number} k
 * @param {number[]} [start] such keys of a moment before @returns {{query: number[], margin: number, among:
 *   number[]}}
 */
function lead(keys, n, d, k, start = []) {
  const around = others(keys, n, d, k);
  const { foot, kept } = nearest(
    around,
    start.map((i) => (i < k ? i : i - 1)),
  );
  const long = Math.sqrt(dot(foot, foot));
  const query = foot.map((x) => (long > 0 ? -x / long : 0));
  const margin = -scores(around.away, n - 1, d, query, scratch(P, n));
  return {
    query,
    margin: margin > APART * around.size ? margin : 0,
    among: kept.map((i) => (i < k ? i : i + 1)),
  };
}

/** @param {ArrayLike<number>} keys @param {number} n @param {number} d @param {number} k @returns {Around} */
function others(keys, n, d, k) {
  const away = scratch(AWAY, n * d);
  const m = n - 1;
  let size = 0;
  for (let i = 0, to = 0; i < n; i++) {
    if (i === k) continue;
    let squares = 0;
    for (let j = 0; j < d; j++) {
      const x = keys[i * d + j] - keys[k * d + j];
      away[j * m + to] = x;
      squares += x * x;
    }
    if (squares > size) size = squares;
    to++;
  }
  return { away, size: Math.sqrt(size), n: m, d };
}

/** The ways to these keys, one after the other. @param {Around} around @param {number[]} kept */
function waysTo({ away, n, d }, kept) {
  const ways = scratch(WAYS, kept.length * d);
  for (let s = 0, to = 0; s < kept.length; s++)
    for (let j = 0; j < d; j++) ways[to++] = away[j * n + kept[s]];
  return ways;
}

/**
 * Σ wₛ·pointₛ of points that come one after the other. @param {Float64Array} points @param
 * {ArrayLike<number>} w @param {number} count
 * @param {number} d */
function mixed(points, w, count, d) {
  /** @type {number[]} */ const out = [];
  for (let j = 0; j < d; j++) {
    let sum = 0;
    for (let s = 0; s < count; s++) sum += w[s] * points[s * d + j];
    out.push(sum);
  }
  return out;
}

/**
 * The point of the convex hull of the ways to the other keys that is nearest to the key, by P. Wolfe's way
 * (1976).
 * @param {Around} around @param {number[]} [start] some of them that may be around it */
function nearest(around, start = []) {
  const { away, n, d } = around;
  const p = scratch(P, n);
  let first = 0;
  let least = Infinity;
  for (let i = 0; i < n; i++) {
    let squares = 0;
    for (let j = 0; j < d; j++) squares += away[j * n + i] ** 2;
    if (squares < least) {
      least = squares;
      first = i;
    }
  }
  let [kept, w] = start.length
    ? corral(
        start,
        start.map(() => 1 / start.length),
        around,
      )
    : [[first], [1]];
  let foot = mixed(waysTo(around, kept), w, kept.length, d);
  for (let step = 0; step < STEPS; step++) {
    scores(away, n, d, foot, p);
    let best = 0;
    for (let i = 1; i < n; i++) if (p[i] < p[best]) best = i;
    const squares = dot(foot, foot);
    if (kept.includes(best) || squares - p[best] <= APART * Math.sqrt(squares * least)) break;
    const [few, weights] = corral([...kept, best], [...w, 0], around);
    const next = mixed(waysTo(around, few), weights, few.length, d);
    if (dot(next, next) >= squares) break;
    [kept, w, foot] = [few, weights, next];
  }
  return { foot, kept };
}

/**
 * Of these keys those around the nearest point of the flat through them, and its weights on these. @param
 * {number[]} kept
 * @param {number[]} w @param {Around} around @returns {[number[], number[]]} */
function corral(kept, w, around) {
  for (;;) {
    const v = flat(waysTo(around, kept), kept.length, around.d);
    if (v.every((each) => each > 0)) return [kept, v];
    let part = Infinity;
    let gone = -1;
    v.forEach((each, s) => {
      if (each <= 0) part = Math.min(part, w[s] / Math.max(w[s] - each, TINY));
    });
    w = w.map((each, s) => (1 - part) * each + part * v[s]);
    v.forEach((each, s) => {
      if (each <= 0 && (gone < 0 || w[s] < w[gone])) gone = s;
    });
    const stay = w.map((each, s) => s !== gone && each > 0);
    const sum = w.reduce((s, each, i) => s + (stay[i] ? each : 0), 0);
    kept = kept.filter((_, s) => stay[s]);
    w = w.filter((_, s) => stay[s]).map((each) => each / sum);
  }
}

/**
 * The weights on points of the nearest point of the flat through them: least squares by modified
 * Gram–Schmidt.
 * @param {Float64Array} points one after the other @param {number} count @param {number} d */
function flat(points, count, d) {
  const m = count - 1;
  const axes = scratch(AXES, m * d);
  const r = scratch(R, m * m);
  const b = new Array(m).fill(0);
  const w = new Array(count).fill(1);
  /** @type {number[]} */ const left = [];
  let first = 0;
  for (let j = 0; j < d; j++) {
    left.push(-points[j]);
    first += points[j] * points[j];
    for (let s = 0; s < m; s++) axes[s * d + j] = points[(s + 1) * d + j] - points[j];
  }
  for (let s = 0, at = 0; s < m; s++, at += d) {
    let squares = 0;
    let far = 0;
    for (let j = 0; j < d; j++) {
      squares += axes[at + j] * axes[at + j];
      far += points[at + d + j] * points[at + d + j];
    }
    const long = Math.sqrt(squares);
    // in the flat of those before
    if (!(long > Number.EPSILON * (Math.sqrt(first) + Math.sqrt(far)))) {
      r[s * m + s] = 0;
      continue;
    }
    r[s * m + s] = long;
    for (let j = 0; j < d; j++) axes[at + j] /= long;
    for (let t = s + 1, to = at + d; t < m; t++, to += d) {
      let along = 0;
      for (let j = 0; j < d; j++) along += axes[at + j] * axes[to + j];
      for (let j = 0; j < d; j++) axes[to + j] -= along * axes[at + j];
      r[s * m + t] = along;
    }
    for (let j = 0; j < d; j++) b[s] += axes[at + j] * left[j];
    for (let j = 0; j < d; j++) left[j] -= b[s] * axes[at + j];
  }
  for (let s = m - 1; s >= 0; s--) {
    let sum = b[s];
    for (let t = s + 1; t < m; t++) sum -= r[s * m + t] * w[t + 1];
    w[s + 1] = r[s * m + s] ? sum / r[s * m + s] : 0;
    w[0] -= w[s + 1];
  }
  return w;
}

// The largest weight of a key, where no query selects it

const ROWS = 7; // that are summed at once: of a point in 2 or 4 dimensions no sum is for nothing, or one

/**
 * @typedef {{rows: Float64Array, size: number, n: number, d: number}} Seen keys from a place: their
 * coordinates one after the other,
 *   then the products of each two, in sevens; and how far the farthest is */

/**
 * @param {ArrayLike<number>} keys
 * @param {number} n
 * @param {number} d
 * @param {number[]} from
 * @returns {Seen}
 */
function seen(keys, n, d, from) {
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
function middle(keys, n, d) {
  const sums = new Array(d).fill(0);
  for (let i = 0; i < n; i++) for (let j = 0; j < d; j++) sums[j] += keys[i * d + j];
  return sums.map((sum) => sum / n);
}

/** @param {Seen} all @param {number} k @returns {number[]} */
function coordinates({ rows, n, d }, k) {
  /** @type {number[]} */ const out = [];
  for (let j = 0; j < d; j++) out.push(rows[j * n + k]);
  return out;
}

/**
 * Whether a query scores a key higher than every other, for certain.
 * @param {Seen} all
 * @param {number} k
 * @param {number[]} query
 */
function leads({ rows, size, n, d }, k, query) {
  const p = scratch(P, n);
  scores(rows, n, d, query, p);
  const own = p[k] - 2 * APART * size * Math.sqrt(dot(query, query));
  for (let i = 0; i < n; i++) if (i !== k && !(p[i] < own)) return false;
  return true;
}

/**
 * The q that minimises L(q) = log Σ exp⟨q, k − h⟩ over all keys k, h itself too, by Newton's method: where
 * others surround h, its
 * largest weight is e^(−L), and the softmax averages the others to h.
 * @param {Seen} all @param {number[]} own h @param {number[] | null} [start] @param {number} [exact] what the
 *   last step gains, else L is as near as a frame needs
 * @returns {{query: number[], value: number}} */
function evenest(all, own, start, exact) {
  const { size, n, d } = all;
  let q = start?.slice() ?? new Array(d).fill(0);
  let value = moments(all, q) - dot(q, own);
  if (start && !(value < Math.log(n) && Math.sqrt(dot(q, q)) * size < FAR)) value = moments(all, q.fill(0));
  for (let step = 1; ; step++) {
    const gradient = less(MEAN, 1, own);
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
      after = moments(all, next) - dot(next, own);
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

/**
 * How far the step takes a score from the mean of all at most, and the mean cube of it: the third order of L
 * along the step. The softmax is in `P`.
 * @param {Seen} all @param {number[]} move @param {number[]} mean */
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

/**
 * e^x from −`NOTHING` to 0, by the nearest place: to some roundings, in a third of the time of `Math.exp`.
 * @param {number} x
 */
function exp(x) {
  const k = (0.5 - FINE * x) | 0;
  const t = x + k / FINE;
  return EXP[k] * (1 + t * (1 + t * (1 / 2 + t * (1 / 6 + t * (1 / 24 + t / 120)))));
}

/** The softmax of ⟨q, k⟩, in `P`, and log Σ exp. @param {Seen} all @param {number[]} q */
function softmax({ rows, n, d }, q) {
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

/**
 * log Σ exp⟨q, k⟩; its gradient and its curvature: the mean of the softmax, which is left in `P`, in `MEAN`,
 * and its covariance in `SPREAD`,
 * with a ridge where the keys do not spread. `ROWS` sums at once, which do not wait for one another.
 * @param {Seen} all @param {number[]} q */
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

/**
 * ⟨q, x⟩ of points that come one coordinate after the other, and the highest. @param {Float64Array} x @param
 * {number} n @param {number} d
 * @param {number[]} q @param {Float64Array} out */
function scores(x, n, d, q, out) {
  let highest = -Infinity;
  for (let i = 0; i < n; i++) out[i] = q[0] * x[i];
  for (let j = 1; j < d; j++) for (let i = 0, o = j * n; i < n; i++) out[i] += q[j] * x[o + i];
  for (let i = 0; i < n; i++) if (out[i] > highest) highest = out[i];
  return highest;
}

/**
 * A⁻¹·b of a positive matrix, whose lower half becomes its Cholesky factor.
 * @param {number[]} A
 * @param {number[]} b
 * @param {number} d
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
