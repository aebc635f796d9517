// @ts-check
/**
 * Which keys attention can select, and the most that it can ever give each of them, as in geometry/selection.py. Pure.
 *
 * @typedef {{margin: number, query: number[], weights: Float64Array, largest: number}} Certificate of one key: the distance
 *   to the hull of the others and the query that leads by it; or else the most even weights with which the others average to it,
 *   the query at which its own weight is largest, and that weight
 * @typedef {{largest: Float64Array, queries: Float64Array, corrals: (number[] | null)[]}} Selection of all keys: the largest weight
 *   of each, a query of it, and a few other keys around one that never leads
 */

const APART = 1e-12, SINGULAR = 1e-12, TINY = 2 ** -1022, STEPS = 100, HALVINGS = 40, SURE = 1e-9;
const LIVE = 1e-5, EXACT = 1e-20; // what Newton's step would gain where it is the last one, for all keys and for one

/** What attention can give each of n keys; what was found a moment before is a start for now.
 * @param {ArrayLike<number>} keys @param {number} n @param {number} d @param {Selection} [before] @returns {Selection} */
export function selection(keys, n, d, before) {
  const known = before?.queries.length === n * d ? before : null;
  /** @type {Selection} */ const found = { largest: new Float64Array(n).fill(1), queries: new Float64Array(n * d), corrals: new Array(n).fill(null) };
  for (let k = 0; k < n && n > 1; k++) {
    const around = others(keys, n, d, k), start = known && Array.from(known.queries.subarray(k * d, k * d + d));
    const { query, corral } = fate(around, start, known?.corrals[k]), most = query ? null : evenest(around, LIVE, start);
    if (most) found.largest[k] = 1 / (1 + Math.exp(most.entropy));
    found.queries.set(most?.query ?? query ?? [], k * d);
    found.corrals[k] = corral;
  }
  return found;
}

/** @param {ArrayLike<number>} keys @param {number} n @param {number} d @param {number} k @returns {Certificate} */
export function certificate(keys, n, d, k) {
  const weights = new Float64Array(n), around = others(keys, n, d, k), p = scratch(P, n);
  if (n < 2) return { margin: Infinity, query: new Array(d).fill(0), weights, largest: 1 };
  const { query: best } = fate(around);
  if (best) return { margin: -scores(around.away, n - 1, d, best, p), query: best, weights, largest: 1 };
  const { query, entropy } = evenest(around, EXACT);
  for (let i = 0; i < n; i++) if (i !== k) weights[i] = p[i < k ? i : i - 1];
  return { margin: 0, query, weights, largest: 1 / (1 + Math.exp(entropy)) };
}

/** @typedef {{away: Float64Array, size: number, n: number, d: number}} Around a key: the way to each other key, and the farthest
 * @typedef {{value: number, mean: number[], spread: number[]}} Moments of L at a query */

/** Numbers that are used again, so that a frame asks for no memory. */
const AWAY = { room: new Float64Array(0) }, P = { room: new Float64Array(0) };

/** @param {{room: Float64Array}} kept @param {number} length */
function scratch(kept, length) {
  if (kept.room.length < length) kept.room = new Float64Array(length);
  return kept.room;
}

/** @param {ArrayLike<number>} keys @param {number} n @param {number} d @param {number} k @returns {Around} */
function others(keys, n, d, k) {
  const away = scratch(AWAY, n * d), m = n - 1;
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

/** A query that scores a key higher than every other, or a few of the others around it; one that still does is as good as the best.
 * @param {Around} around @param {number[] | null} [query] @param {number[] | null} [corral]
 * @returns {{query: number[] | null, corral: number[] | null}} */
function fate(around, query, corral) {
  if (corral && holds(around, corral)) return { query: null, corral };
  if (query && !corral && leads(around, query)) return { query, corral: null };
  const { foot, kept } = nearest(around), long = Math.sqrt(dot(foot, foot)), best = foot.map((x) => (long > 0 ? -x / long : 0));
  return leads(around, best) ? { query: best, corral: null } : { query: null, corral: kept };
}

/** @param {Around} around @param {number[]} query */
const leads = ({ away, size, n, d }, query) => scores(away, n, d, query, scratch(P, n)) < -APART * size * Math.sqrt(dot(query, query));

/** Whether a key is between these others. @param {Around} around @param {number[]} corral */
function holds(around, corral) {
  const points = corral.map((i) => way(around, i)), w = flat(points);
  return w.every((each) => each > 0) && Math.sqrt(dot(mixed(points, w), mixed(points, w))) <= APART * around.size;
}

/** @param {Around} around @param {number} i */
function way({ away, n, d }, i) {
  /** @type {number[]} */ const out = [];
  for (let j = 0; j < d; j++) out.push(away[j * n + i]);
  return out;
}

/** Σ wᵢ·pointᵢ. @param {number[][]} points @param {number[]} w */
const mixed = (points, w) => points[0].map((_, j) => points.reduce((sum, point, i) => sum + w[i] * point[j], 0));

/** @param {number[]} x @param {number[]} y */
function dot(x, y) {
  let sum = 0;
  for (let j = 0; j < x.length; j++) sum += x[j] * y[j];
  return sum;
}

/** The point of the convex hull of the ways to the other keys that is nearest to the key, by P. Wolfe's way (1976), and the keys
 * around it. @param {Around} around @returns {{foot: number[], kept: number[]}} */
function nearest(around) {
  const { away, n, d } = around, p = scratch(P, n);
  let first = 0, least = Infinity;
  for (let i = 0; i < n; i++) {
    let squares = 0;
    for (let j = 0; j < d; j++) squares += away[j * n + i] ** 2;
    if (squares < least) { least = squares; first = i; }
  }
  let kept = [first], w = [1], foot = way(around, first);
  for (let step = 0; step < STEPS; step++) {
    scores(away, n, d, foot, p);
    let best = 0;
    for (let i = 1; i < n; i++) if (p[i] < p[best]) best = i;
    const squares = dot(foot, foot);
    if (kept.includes(best) || squares - p[best] <= APART * Math.sqrt(squares * least)) break;
    const [few, weights] = corral([...kept, best], [...w, 0], around), next = mixed(few.map((i) => way(around, i)), weights);
    if (dot(next, next) >= squares) break;
    [kept, w, foot] = [few, weights, next];
  }
  return { foot, kept };
}

/** Of these keys those around the nearest point of the flat through them, and its weights on these. @param {number[]} kept
 * @param {number[]} w @param {Around} around @returns {[number[], number[]]} */
function corral(kept, w, around) {
  for (;;) {
    const v = flat(kept.map((i) => way(around, i)));
    if (v.every((each) => each > 0)) return [kept, v];
    let part = Infinity, gone = -1;
    v.forEach((each, s) => { if (each <= 0) part = Math.min(part, w[s] / Math.max(w[s] - each, TINY)); });
    w = w.map((each, s) => (1 - part) * each + part * v[s]);
    v.forEach((each, s) => { if (each <= 0 && (gone < 0 || w[s] < w[gone])) gone = s; });
    const stay = w.map((each, s) => s !== gone && each > 0), sum = w.reduce((s, each, i) => s + (stay[i] ? each : 0), 0);
    kept = kept.filter((_, s) => stay[s]);
    w = w.filter((_, s) => stay[s]).map((each) => each / sum);
  }
}

/** The weights on points of the nearest point of the flat through them: least squares by modified Gram–Schmidt.
 * @param {number[][]} points */
function flat([first, ...others]) {
  const left = first.map((x) => -x), axes = others.map((point) => point.map((x, j) => x - first[j]));
  const R = axes.map(() => axes.map(() => 0)), b = axes.map(() => 0), c = axes.map(() => 0);
  axes.forEach((axis, s) => {
    const long = Math.sqrt(dot(axis, axis));
    if (!(long > Number.EPSILON * (Math.sqrt(dot(first, first)) + Math.sqrt(dot(others[s], others[s]))))) return; // in the flat of those before
    R[s][s] = long;
    axis.forEach((x, j) => { axis[j] = x / long; });
    for (let t = s + 1; t < axes.length; t++) {
      R[s][t] = dot(axis, axes[t]);
      axes[t].forEach((x, j) => { axes[t][j] = x - R[s][t] * axis[j]; });
    }
    b[s] = dot(axis, left);
    left.forEach((x, j) => { left[j] = x - b[s] * axis[j]; });
  });
  for (let s = axes.length - 1; s >= 0; s--) {
    const sum = c.reduce((sum, each, t) => (t > s ? sum - R[s][t] * each : sum), b[s]);
    c[s] = R[s][s] ? sum / R[s][s] : 0;
  }
  return [1 - c.reduce((s, each) => s + each, 0), ...c];
}

/** Where the other keys surround a key: the q that minimises L(q) = log Σ exp⟨q, k − h⟩, by Newton's method, and L there, the
 * entropy of the most even weights (left in `P`) with which they average to it.
 * @param {Around} around @param {number} enough @param {number[] | null} [start] @returns {{query: number[], entropy: number}} */
function evenest(around, enough, start) {
  let q = start?.slice() ?? new Array(around.d).fill(0), now = moments(around, q);
  if (start && !(now.value < Math.log(around.n))) now = moments(around, q.fill(0));
  for (let step = 0; step < STEPS; step++) {
    const move = solve(now.spread, now.mean, around.d), gain = dot(now.mean, move) / 2;
    let part = 1, next = q, after = now;
    if (gain <= enough) return { query: q.map((x, j) => x - move[j]), entropy: now.value - gain };
    for (let halved = 0; halved < HALVINGS; halved++, part /= 2) {
      next = q.map((x, j) => x - part * move[j]);
      after = moments(around, next);
      if (gain < SURE || after.value <= now.value - (part * gain) / 2) break;
    }
    q = next;
    now = after;
  }
  return { query: q, entropy: now.value };
}

/** L at a query, its gradient and its curvature: the mean and the covariance of the softmax, which is left in `P`; a ridge where
 * the keys do not spread. One coordinate after the other, for speed.
 * @param {Around} around @param {number[]} q @returns {Moments} */
function moments({ away, n, d }, q) {
  const p = scratch(P, n), mean = new Array(d).fill(0), spread = new Array(d * d).fill(0), highest = scores(away, n, d, q, p);
  let sum = 0, trace = 0;
  for (let i = 0; i < n; i++) sum += p[i] = Math.exp(p[i] - highest);
  const share = 1 / sum;
  for (let i = 0; i < n; i++) p[i] *= share;
  for (let j = 0; j < d; j++) {
    let along = 0;
    for (let i = 0, o = j * n; i < n; i++) along += p[i] * away[o + i];
    mean[j] = along;
    for (let r = 0; r <= j; r++) {
      let both = 0;
      for (let i = 0, o = j * n, u = r * n; i < n; i++) both += p[i] * away[o + i] * away[u + i];
      spread[j * d + r] = both - mean[j] * mean[r];
    }
    trace += spread[j * d + j];
  }
  for (let j = 0; j < d; j++) spread[j * d + j] += (SINGULAR * trace) / d + TINY;
  return { value: highest + Math.log(sum), mean, spread };
}

/** ⟨q, k − h⟩ of every other key, and the highest. @param {Float64Array} away @param {number} n @param {number} d
 * @param {number[]} q @param {Float64Array} out */
function scores(away, n, d, q, out) {
  let highest = -Infinity;
  for (let i = 0; i < n; i++) out[i] = q[0] * away[i];
  for (let j = 1; j < d; j++) for (let i = 0, o = j * n; i < n; i++) out[i] += q[j] * away[o + i];
  for (let i = 0; i < n; i++) if (out[i] > highest) highest = out[i];
  return highest;
}

/** A⁻¹·b of a positive matrix, whose lower half becomes its Cholesky factor. @param {number[]} A @param {number[]} b @param {number} d */
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
