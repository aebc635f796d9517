// @ts-check
/**
 * Compute the point of the convex hull of the other keys that is nearest to a key. The direction from that
 * point to the key is the query that selects the key by the largest margin. Pure.
 *
 * @typedef {{away: Float64Array, size: number, n: number, d: number}} Around n other keys, as seen from a
 *   key: the vectors from the key to them, stored coordinate by coordinate (away), and the largest of their
 *   lengths (size)
 */

import { dot, grown, scores, TINY } from "./vectors.mjs";

export const LEAD_TOLERANCE = 1e-12; // margins up to this share of the largest distance are rounding errors
const MAX_STEPS = 100;

const OFFSETS_SCRATCH = { buffer: new Float64Array(0) };
const SCORES_SCRATCH = { buffer: new Float64Array(0) };
const KEPT_OFFSETS_SCRATCH = { buffer: new Float64Array(0) };
const AXES_SCRATCH = { buffer: new Float64Array(0) };
const TRIANGLE_SCRATCH = { buffer: new Float64Array(0) };

/** The query that separates key k best from all other keys. query: the query of length 1 for which the score
 * of key k exceeds all others by the largest margin; margin: this margin. If no query selects the key,
 * `margin` is 0, and `query` means nothing (it may be all zeros). among: the indices of a few other keys. Of
 * all points in the hull of the other keys, the one nearest to key k lies in the hull of these few keys.
 * @param {ArrayLike<number>} keys n keys with d coordinates each @param {number} n @param {number} d @param
 * {number} k @param {number[]} [start] `among` at the previous moment @returns {{query: number[], margin:
 * number, among: number[]}} */
export function lead(keys, n, d, k, start = []) {
  const around = others(keys, n, d, k);
  const { foot, kept } = nearest(
    around,
    start.map((i) => (i < k ? i : i - 1)),
  );
  const long = Math.sqrt(dot(foot, foot));
  const query = foot.map((x) => (long > 0 ? -x / long : 0));
  const margin = -scores(around.away, n - 1, d, query, grown(SCORES_SCRATCH, n));
  return {
    query,
    margin: margin > LEAD_TOLERANCE * around.size ? margin : 0,
    among: kept.map((i) => (i < k ? i : i + 1)),
  };
}

/**
 * The vectors from key k to the other n − 1 keys. They are in a scratch array, which the next call
 * overwrites.
 * @param {ArrayLike<number>} keys @param {number} n @param {number} d the number of coordinates of a key
 * @param {number} k @returns {Around}
 */
function others(keys, n, d, k) {
  const away = grown(OFFSETS_SCRATCH, n * d);
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

/** The vectors from a key to some of the other keys, one after the other. The result is a scratch array: the
 * numbers after these vectors are arbitrary, and the next call overwrites all. @param {Around} around the
 * vectors to all other keys @param {number[]} kept the indices, in `around`, of the vectors to return */
function waysTo({ away, n, d }, kept) {
  const ways = grown(KEPT_OFFSETS_SCRATCH, kept.length * d);
  for (let s = 0, to = 0; s < kept.length; s++)
    for (let j = 0; j < d; j++) ways[to++] = away[j * n + kept[s]];
  return ways;
}

/** The linear combination Σ wₛ·pointₛ of `count` points with d coordinates, stored one after the other.
 * @param {Float64Array} points @param {ArrayLike<number>} w the weights @param {number} count
 * @param {number} d */
export function mixed(points, w, count, d) {
  /** @type {number[]} */ const out = [];
  for (let j = 0; j < d; j++) {
    let sum = 0;
    for (let s = 0; s < count; s++) sum += w[s] * points[s * d + j];
    out.push(sum);
  }
  return out;
}

/** Find the point nearest to a key in the convex hull of the other keys, by Wolfe's algorithm (P. Wolfe,
 * 1976). Returns the vector from the key to this point (`foot`), and the indices of the keys of which the
 * point is a convex combination (`kept`). All indices, also those in `start`, count the keys in
 * `around`. @param {Around} around the other keys, seen from the key @param {number[]} start indices
 * of keys whose hull is near the result; [] if none are known */
function nearest(around, start) {
  const { away, n, d } = around;
  const p = grown(SCORES_SCRATCH, n);
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
  for (let step = 0; step < MAX_STEPS; step++) {
    scores(away, n, d, foot, p);
    let best = 0;
    for (let i = 1; i < n; i++) if (p[i] < p[best]) best = i;
    const squares = dot(foot, foot);
    if (kept.includes(best) || squares - p[best] <= LEAD_TOLERANCE * Math.sqrt(squares * least)) break;
    const [few, weights] = corral([...kept, best], [...w, 0], around);
    const next = mixed(waysTo(around, few), weights, few.length, d);
    if (dot(next, next) >= squares) break;
    [kept, w, foot] = [few, weights, next];
  }
  return { foot, kept };
}

/** Run the minor cycle of Wolfe's algorithm. In each round it finds the point nearest to the key in question
 * in the affine span of some other keys. If the point lies inside the hull of these keys, their indices are
 * returned, and the weights with which the point is their average. Otherwise some of the keys are dropped,
 * and the next round begins. @param {number[]} kept the indices of the keys in the first round
 * @param {number[]} w a weight of at least 0 for each of these keys. The search starts from the average of
 * the keys with these weights @param {Around} around the other keys, seen from the key in question
 * @returns {[number[], number[]]} */
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

/** The weights, with sum 1, of the affine combination of points that is nearest to the origin. Weights can be
 * negative. Solves the least-squares problem by the modified Gram–Schmidt method.
 * @param {Float64Array} points one after the other @param {number} count their number @param {number} d the
 * number of coordinates of each */
export function flat(points, count, d) {
  const m = count - 1;
  const axes = grown(AXES_SCRATCH, m * d);
  const r = grown(TRIANGLE_SCRATCH, m * m);
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
    // the point is an affine combination of those before it, so its weight is 0
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
