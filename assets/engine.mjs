// @ts-check
/**
 * The engine: a recipe and the parameters in, positions out. Pure: no DOM, no Plotly.
 *
 * It mirrors geometry/pipeline.py (steps, stages, positions between stages) and components/recipe.py
 * (frames: what each layer of each view shows). A test holds the two, and PyTorch, together.
 *
 * @typedef {{dtype: string, shape: number[], bdata: string}} Packed
 * @typedef {{base: Packed, terms?: Record<string, Packed>, tracks?: Record<string, {at: Packed, values: Packed}>}} Entries
 * @typedef {{kind: "affine", A: Entries, b: Entries | null}
 *   | {kind: "normalize", radius: Entries, eps: Entries, groups: number[][] | null, convention: string}
 *   | {kind: "pointwise", function: string}} Step
 * @typedef {{name: string, points: Packed, place: Step[], steps: Step[], path: string}} Cloud
 * @typedef {{stage: number | null, weights: number[], offset: number}} Row
 * @typedef {{cloud: string, kind: string, role: string, rows: Row[], only: number[] | "followed" | null,
 *   order: Packed | null, pick: boolean, picks: [string, Packed] | null, over: Row | null, span: [number, number], bins: number, classes: Packed | null,
 *   fade: number[] | null, arrow: number, color: any}} Layer
 * @typedef {{name: string, dims: number, layers: Layer[], [key: string]: any}} View
 * @typedef {{stages: string[], clouds: Cloud[], views: View[], parameters: any[], [key: string]: any}} Recipe
 * @typedef {Record<string, number>} Params
 */

/** A cloud by its name. @param {Recipe} recipe @param {string} name */
export const cloudOf = (recipe, name) => /** @type {Cloud} */ (recipe.clouds.find((c) => c.name === name));

/** The parameter that runs by itself, if there is one. @param {Recipe} recipe @returns {any} */
export const clockOf = (recipe) => recipe.parameters.find((p) => p.name === recipe.clock);

/** @type {WeakMap<Packed, Float64Array | Float32Array | Int32Array | Uint8Array>} */
const unpacked = new WeakMap();
const KINDS = { f4: Float32Array, f8: Float64Array, i4: Int32Array, u1: Uint8Array };

/** The numbers of a packed array (base64, little endian), decoded once. @param {Packed} packed */
export function unpack(packed) {
  let array = unpacked.get(packed);
  if (!array) {
    const bytes = Uint8Array.from(atob(packed.bdata), (c) => c.charCodeAt(0));
    array = new KINDS[/** @type {keyof typeof KINDS} */ (packed.dtype)](bytes.buffer);
    unpacked.set(packed, array);
  }
  return array;
}

/**
 * base + Σ p·term + Σ track(p): constants, entries affine in parameters, and entries that follow a track.
 * @param {Entries} entries @param {Params} params @returns {Float64Array}
 */
export function value(entries, params) {
  const out = new Float64Array(unpack(entries.base));
  for (const [name, term] of Object.entries(entries.terms ?? {})) {
    unpack(term).forEach((t, i) => { out[i] += params[name] * t; });
  }
  for (const [name, track] of Object.entries(entries.tracks ?? {})) {
    const at = unpack(track.at), values = unpack(track.values), p = params[name];
    let k = 0;
    while (k < at.length - 2 && p >= at[k + 1]) k++;
    const next = Math.min(k + 1, at.length - 1);
    const f = next === k ? 0 : Math.min(1, Math.max(0, (p - at[k]) / (at[next] - at[k])));
    for (let i = 0; i < out.length; i++) {
      out[i] += (1 - f) * values[k * out.length + i] + f * values[next * out.length + i];
    }
  }
  return out;
}

/** Abramowitz and Stegun 7.1.26 falls short of float32; this series and continued fraction do not. @param {number} x */
function erf(x) {
  const a = Math.abs(x);
  if (a > 6) return Math.sign(x);
  if (a < 2.5) {
    let term = a, sum = a;
    for (let n = 1; n < 60; n++) { term *= (-a * a) / n; sum += term / (2 * n + 1); }
    return Math.sign(x) * (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = 0;
  for (let k = 40; k > 0; k--) fraction = k / 2 / (a + fraction);
  return Math.sign(x) * (1 - Math.exp(-a * a) / Math.sqrt(Math.PI) / (a + fraction));
}

/** @type {Record<string, (x: number) => number>} */
export const FUNCTIONS = {
  identity: (x) => x,
  abs: Math.abs,
  tanh: Math.tanh,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  erf,
  sin: Math.sin,
  cos: Math.cos,
  arcsin: (x) => Math.asin(Math.max(-1, Math.min(1, x))),
  arctan: Math.atan,
  relu: (x) => (x <= 0 ? 0 : x),
  gelu: (x) => (x / 2) * (1 + erf(x / Math.SQRT2)),
};

/** Two benches that a cloud goes to and fro on: no memory is asked for in a frame. */
const benches = [new Float64Array(0), new Float64Array(0)];

/** Room for so many numbers, on the bench that x is not on. @param {number} length @param {Float64Array} [x] */
function room(length, x) {
  const k = x?.buffer === benches[0].buffer ? 1 : 0;
  if (benches[k].length < length) benches[k] = new Float64Array(length);
  return benches[k].subarray(0, length);
}

/** Whether each row of A sums to 0, up to the rounding of a sum of its entries. @param {Float64Array} A @param {number} d */
function levels(A, d) {
  for (let r = 0; r < A.length; r += d) {
    let sum = 0, size = 0;
    for (let j = r; j < r + d; j++) { sum += A[j]; size += Math.abs(A[j]); }
    if (!(Math.abs(sum) <= d * Number.EPSILON * size)) return false;
  }
  return true;
}

/** A·x + b. Where all rows of A sum to 0 (centring), a constant vector goes to b exactly: rounding would give it a
 * direction. @param {Float64Array} x @param {number} n @param {Float64Array} A @param {Float64Array | null} b */
function affine(x, n, A, b) {
  const d = x.length / n || 1, m = A.length / d;
  const y = room(n * m, x);
  const level = levels(A, d);
  for (let i = 0; i < n; i++) {
    const from = level ? x[i * d] : 0;
    for (let r = 0; r < m; r++) {
      let sum = b ? b[r] : 0;
      for (let j = 0; j < d; j++) sum += A[r * d + j] * (x[i * d + j] - from);
      y[i * m + r] = sum;
    }
  }
  return y;
}

/**
 * Each group of coordinates to its sphere, in place: R·v / r(v); the zero vector stays where it is.
 * @param {Float64Array} x @param {number} n @param {number} radius @param {number} eps
 * @param {number[][] | null} groups @param {string} convention
 */
function normalize(x, n, radius, eps, groups, convention) {
  const d = x.length / n || 1;
  for (const group of groups ?? [Array.from({ length: d }, (_, j) => j)]) {
    const size = group.length;
    for (let i = 0; i < n; i++) {
      let squares = 0;
      for (let g = 0; g < size; g++) squares += x[i * d + group[g]] ** 2;
      const length = convention === "std" ? Math.sqrt(squares) + eps * Math.sqrt(size)
        : Math.sqrt(squares + (convention === "pytorch" ? size : 1) * eps);
      const scale = length > 0 ? radius / length : 0;
      for (let g = 0; g < size; g++) x[i * d + group[g]] *= scale;
    }
  }
  return x;
}

/** x after a step: x itself, changed, or on the other bench. @param {Float64Array} x @param {number} n @param {Step} step
 * @param {Params} params */
function apply(x, n, step, params) {
  if (step.kind === "affine") return affine(x, n, value(step.A, params), step.b && value(step.b, params));
  if (step.kind === "pointwise") {
    const f = FUNCTIONS[step.function];
    for (let i = 0; i < x.length; i++) x[i] = f(x[i]);
    return x;
  }
  return normalize(x, n, value(step.radius, params)[0], value(step.eps, params)[0], step.groups, step.convention);
}

/** The names of the parameters that move an array. @param {any} entries @returns {string[]} */
const movers = (entries) => [...Object.keys(entries?.terms ?? {}), ...Object.keys(entries?.tracks ?? {})];

/** Whether a step is one at which a guide waits for the points. @param {Step} step */
function rests(step) {
  if (step.kind !== "affine") return false;
  const { A, b } = step, d = A.base.shape[0];
  return !b && !movers(A).length && A.base.shape[1] === d && unpack(A.base).every((a, i) => a === (i % (d + 1) ? 0 : 1));
}

/** The stages of one cloud (of one point in place of its own, where given). A step that moves nothing gives the same array
 * again. @param {Cloud} cloud @param {Params} params @param {Float64Array} [point] @returns {Float32Array[]} */
export function cloudStages(cloud, params, point) {
  const n = point ? 1 : cloud.points.shape[0];
  const start = point ?? unpack(cloud.points);
  /** @type {Float64Array} */ let x = room(start.length);
  x.set(start);
  for (const step of cloud.place) x = apply(x, n, step, params);
  const out = [new Float32Array(x)];
  for (const step of cloud.steps) {
    const still = rests(step);
    if (!still) x = apply(x, n, step, params);
    out.push(still ? out[out.length - 1] : new Float32Array(x));
  }
  return out;
}

/** @type {WeakMap<Cloud, {names: string[], values: number[], stages: Float32Array[]}>} the last stages of each cloud */
const lately = new WeakMap();

/** The stages of a cloud, anew only if a parameter that moves it has changed. @param {Cloud} cloud @param {Params} params */
function remembered(cloud, params) {
  let known = lately.get(cloud);
  const names = known?.names ?? [...cloud.place, ...cloud.steps].flatMap((step) => Object.values(step).flatMap(movers));
  const values = names.map((name) => params[name]);
  if (!known || !values.every((v, i) => v === known?.values[i])) {
    lately.set(cloud, (known = { names, values, stages: cloudStages(cloud, params) }));
  }
  return known.stages;
}

/** For each cloud, a Float32Array a stage. @param {Recipe} recipe @param {Params} params @returns {Record<string, Float32Array[]>} */
export function stages(recipe, params) {
  return Object.fromEntries(recipe.clouds.map((cloud) => [cloud.name, remembered(cloud, params)]));
}

const TURN = 1e-5; // below this sine of the angle between them, two points are joined straight

/** Between two stages of n points each: on straight lines, or along the sphere. A cloud that has fewer steps than the
 * recipe rests at its last stage. @param {Float32Array[]} stages @param {number} n @param {number} progress @param {string} path */
export function between(stages, n, progress, path) {
  const p = Math.min(progress, stages.length - 1), k = Math.min(Math.floor(p), stages.length - 2), f = p - k;
  if (f === 0 || k < 0) return stages[Math.max(k, 0)];
  if (f === 1) return stages[k + 1];
  if (stages[k] === stages[k + 1]) return stages[k];
  const a = stages[k], b = stages[k + 1], da = a.length / n || 1, db = b.length / n || 1, d = Math.max(da, db);
  const out = new Float32Array(n * d);
  for (let i = 0; i < n; i++) {
    let wa = 1 - f, wb = f;
    if (path === "sphere") [wa, wb] = alongSphere(a.subarray(i * da, (i + 1) * da), b.subarray(i * db, (i + 1) * db), f);
    for (let j = 0; j < d; j++) {
      out[i * d + j] = (j < da ? wa * a[i * da + j] : 0) + (j < db ? wb * b[i * db + j] : 0);
    }
  }
  return out;
}

/** Weights of a and b: the direction turns evenly along the great circle, the norm changes evenly.
 * @param {Float32Array} a @param {Float32Array} b @param {number} f @returns {[number, number]} */
function alongSphere(a, b, f) {
  const na = Math.hypot(...a), nb = Math.hypot(...b);
  let c = 0, square = 0;
  for (let j = 0; j < Math.min(a.length, b.length); j++) c += (a[j] / na) * (b[j] / nb);
  for (let j = 0; j < Math.max(a.length, b.length); j++) square += ((b[j] ?? 0) / nb - (c * (a[j] ?? 0)) / na) ** 2;
  const sine = Math.sqrt(square);
  if (!(na > 0 && nb > 0 && sine > TURN)) return [1 - f, f];
  const angle = f * Math.atan2(sine, c), norm = (1 - f) * na + f * nb, side = Math.sin(angle) / sine;
  return [(norm * (Math.cos(angle) - side * c)) / na, (norm * side) / nb];
}

/** For each cloud, where its points are at a progress. @param {Recipe} recipe @param {Params} params @param {number} progress
 * @returns {Record<string, Float32Array>} */
export function positions(recipe, params, progress) {
  return now(recipe, stages(recipe, params), progress);
}

/** The same from stages that are known already. @param {Recipe} recipe @param {Record<string, Float32Array[]>} all
 * @param {number} progress @returns {Record<string, Float32Array>} */
export function now(recipe, all, progress) {
  return Object.fromEntries(recipe.clouds.map((cloud) =>
    [cloud.name, between(all[cloud.name], cloud.points.shape[0], progress, cloud.path)]));
}

/** Opacity of a layer: one value a stage, linear between them. @param {Layer} layer @param {number} progress */
export function fading(layer, progress) {
  const fade = layer.fade;
  if (!fade) return 1;
  const k = Math.min(Math.floor(progress), fade.length - 1), next = Math.min(k + 1, fade.length - 1), f = progress - k;
  return (1 - f) * fade[k] + f * fade[next];
}

/**
 * One display coordinate of n points: ⟨weights, point⟩ + offset, at the progress or at a fixed stage.
 * @param {Row} row @param {Float32Array} points @param {number} n @param {Float32Array} out @param {number} offset @param {number} stride
 */
function coordinate(row, points, n, out, offset, stride) {
  const d = points.length / n || 1, m = Math.min(d, row.weights.length);
  for (let i = 0; i < n; i++) {
    let sum = row.offset;
    for (let j = 0; j < m; j++) sum += row.weights[j] * points[i * d + j];
    out[offset + i * stride] = sum;
  }
}

/** All display coordinates of n points, divided by the row `over` where there is one.
 * @param {Row[]} rows @param {Float32Array[]} stagesOfCloud @param {Float32Array} points @param {number} n @param {Row | null} [over] */
export function project(rows, stagesOfCloud, points, n, over) {
  const out = new Float32Array(n * rows.length);
  const all = (/** @type {Row} */ { stage }) => (stage === null ? points : stagesOfCloud[Math.min(stage, stagesOfCloud.length - 1)]);
  rows.forEach((row, r) => coordinate(row, all(row), n, out, r, rows.length));
  if (over) {
    const by = new Float32Array(n);
    coordinate(over, all(over), n, by, 0, 1);
    for (let i = 0; i < out.length; i++) out[i] /= by[Math.floor(i / rows.length)];
  }
  return out;
}

/** Rows of `points` (k numbers each) in the order of `indices`; −1 is a gap. @param {Float32Array} points @param {number} k
 * @param {ArrayLike<number>} indices */
function gather(points, k, indices) {
  const out = new Float32Array(indices.length * k);
  for (let i = 0; i < indices.length; i++) {
    for (let r = 0; r < k; r++) out[i * k + r] = indices[i] < 0 ? NaN : points[indices[i] * k + r];
  }
  return out;
}

/**
 * What one layer shows: its points in display coordinates, in drawing order, with gaps as NaN.
 * A trail joins where a point was at each stage to where it is: its later corners rest on the point itself.
 * A layer whose cloud has not moved gives the same array again.
 * @param {Recipe} recipe @param {Layer} layer @param {Record<string, Float32Array[]>} all
 * @param {Record<string, Float32Array>} at @param {number} progress @param {number} followed
 */
export function layerPoints(recipe, layer, all, at, progress, followed) {
  const known = shown.get(layer), inputs = [all[layer.cloud], at[layer.cloud], followed, layer.kind === "trail" ? progress : 0];
  if (known && inputs.every((input, i) => input === known.inputs[i])) return known.points;
  const points = withHeads(drawing(recipe, layer, all, at, progress, followed), layer.rows.length, layer.arrow);
  shown.set(layer, { inputs, points });
  return points;
}

/** @type {WeakMap<Layer, {inputs: any[], points: Float32Array}>} what each layer showed last */
const shown = new WeakMap();

/** @param {Recipe} recipe @param {Layer} layer @param {Record<string, Float32Array[]>} all
 * @param {Record<string, Float32Array>} at @param {number} progress @param {number} followed */
function drawing(recipe, layer, all, at, progress, followed) {
  const cloud = cloudOf(recipe, layer.cloud);
  const n = cloud.points.shape[0], k = layer.rows.length, own = all[layer.cloud];
  const only = layer.only === "followed" ? [Math.min(followed, n - 1)] : layer.only;
  if (layer.kind === "trail") {
    const indices = only ?? Array.from({ length: n }, (_, i) => i), corners = own.length + 1;
    const out = new Float32Array(indices.length * corners * k).fill(NaN);
    const few = own.map((stage) => gather(stage, stage.length / n, indices)), m = indices.length;
    few.forEach((_, s) => {
      const points = project(layer.rows, few, between(few, m, Math.min(s, progress), cloud.path), m, layer.over);
      for (let i = 0; i < m; i++) out.set(points.subarray(i * k, (i + 1) * k), (i * corners + s) * k);
    });
    return out;
  }
  if (layer.kind === "semi-axes") return diameters(layer.rows, at[layer.cloud], n);
  if (layer.kind === "field") return new Float32Array();
  if (layer.kind === "plane" || layer.kind === "rim") {
    const points = disc(at[layer.cloud], layer.span[1], layer.bins).subarray(layer.kind === "rim" ? 3 : 0);
    return project(layer.rows.map((row) => ({ ...row, stage: null })), [], points, points.length / 3);
  }
  if (only) return someOf(layer, own, at[layer.cloud], n, only);
  const points = project(layer.rows, own, at[layer.cloud], n, layer.over);
  if (layer.kind === "histogram") return histogram(points, layer.span, layer.bins);
  if (layer.kind === "threshold") {
    const cut = bestThreshold(points, unpack(/** @type {Packed} */ (layer.classes))).threshold;
    return Float32Array.of(cut, layer.span[0], cut, layer.span[1]);
  }
  return layer.order && layer.kind === "line" ? gather(points, k, unpack(layer.order)) : points;
}

/** A few points of a layer. @param {Layer} layer @param {Float32Array[]} own @param {Float32Array} at @param {number} n @param {number[]} only */
function someOf(layer, own, at, n, only) {
  const few = (/** @type {Float32Array} */ points) => gather(points, points.length / n, only);
  const points = project(layer.rows, own.map(few), few(at), only.length, layer.over);
  return layer.kind === "histogram" ? histogram(points, layer.span, layer.bins) : points;
}

const WIDTH = 0.4, LEAST = 1e-3, STEEP = 0.9; // as in geometry/arrows.py, which says what they are

/** A line with a head of this length at the end of each of its pieces: barb, tip, barb …
 * @param {Float32Array} points @param {number} k @param {number} length */
function withHeads(points, k, length) {
  if (!length) return points;
  /** @type {number[]} */ const out = [];
  for (let i = 0, from = 0, n = points.length / k; i <= n; i++) {
    if (i < n && points[i * k] === points[i * k]) continue;
    const piece = points.subarray(from * k, i * k);
    out.push(...piece, ...head(piece, k, length));
    if (i < n) out.push(...points.subarray(i * k, (i + 1) * k));
    from = i + 1;
  }
  return Float32Array.from(out);
}

/** @param {Float32Array} piece @param {number} k @param {number} length @returns {number[]} */
function head(piece, k, length) {
  const n = piece.length / k, tip = Array.from(piece.subarray(piece.length - k));
  let whole = 0, size = 0, back = tip.map(() => 0);
  for (let i = 1; i < n; i++) {
    const leg = tip.map((_, j) => piece[i * k + j] - piece[(i - 1) * k + j]), long = Math.hypot(...leg);
    whole += long;
    if (long > LEAST * length) back = leg.map((x) => x / long);
  }
  if (back.some(Boolean)) back = back.map((x) => (size = Math.min(length, whole / 2)) * x);
  const barbs = sides(back, size || 1).map((side) => tip.map((x, j) => x - back[j] + WIDTH * side[j]));
  return n ? barbs.flatMap((barb) => [...barb, ...tip]).slice(0, -k) : [];
}

/** Vectors as long as `back` and at right angles to it. @param {number[]} back @param {number} size */
function sides(back, size) {
  const both = (/** @type {number[]} */ v) => [v, v.map((x) => -x)];
  if (back.length === 2) return both([-back[1], back[0]]);
  const across = cross(back, Math.abs(back[2]) > STEEP * size ? [1, 0, 0] : [0, 0, 1]), long = Math.hypot(...across) || 1;
  const first = across.map((x) => (x * size) / long);
  return [...both(first), ...both(cross(back, first).map((x) => x / size))];
}

/**
 * The semi-axes of an ellipsoid, longest first: its middle, then the images of orthonormal radii. Pairs of radii are
 * turned into each other until all are at right angles (one-sided Jacobi).
 * @param {Float32Array} points @param {number} n @returns {number[][]}
 */
export function semiAxes(points, n) {
  const d = points.length / n;
  const axes = Array.from({ length: n - 1 }, (_, i) => Array.from({ length: d }, (_, j) => points[(i + 1) * d + j] - points[j]));
  const dot = (/** @type {number[]} */ a, /** @type {number[]} */ b) => a.reduce((s, x, j) => s + x * b[j], 0);
  for (let sweep = 0; sweep < 12; sweep++) {
    for (let p = 0; p < n - 2; p++) {
      for (let q = p + 1; q < n - 1; q++) {
        const a = axes[p], b = axes[q], angle = 0.5 * Math.atan2(2 * dot(a, b), dot(a, a) - dot(b, b));
        if (Math.abs(dot(a, b)) <= 1e-7 * Math.sqrt(dot(a, a) * dot(b, b))) continue;
        const c = Math.cos(angle), s = Math.sin(angle);
        axes[p] = a.map((x, j) => c * x + s * b[j]);
        axes[q] = b.map((x, j) => c * x - s * a[j]);
      }
    }
  }
  return axes.sort((a, b) => dot(b, b) - dot(a, a));
}

/** @param {Row[]} rows @param {Float32Array} points @param {number} n */
function diameters(rows, points, n) {
  const d = points.length / n, middle = Array.from(points.subarray(0, d));
  const ends = semiAxes(points, n).flatMap((axis) =>
    [middle.map((m, j) => m - axis[j]), middle.map((m, j) => m + axis[j]), middle.map(() => NaN)]);
  return project(rows.map((row) => ({ ...row, stage: null })), [], Float32Array.from(ends.flat()), ends.length);
}

/** The disc that {x : b + ⟨w, x⟩ = 0} cuts from a ball around the origin: its middle, then its edge, closed.
 * @param {Float32Array} values of b + ⟨w, x⟩ at the origin and at the ends of the unit vectors
 * @param {number} radius @param {number} corners */
function disc(values, radius, corners) {
  const { normal, away } = plane(values, radius), size = Math.sqrt(radius ** 2 - away ** 2);
  const least = normal.map(Math.abs).reduce((/** @type {number} */ k, v, i, all) => (v < all[k] ? i : k), 0);
  const across = cross(normal, [0, 1, 2].map((i) => (i === least ? 1 : 0))), long = Math.hypot(...across);
  const u = across.map((x) => x / long), v = cross(normal, u), out = new Float32Array(3 * (corners + 2));
  for (let i = 0; i < 3; i++) {
    out[i] = away * normal[i];
    for (let c = 0; c <= corners; c++) {
      const turn = (2 * Math.PI * c) / corners;
      out[3 * (c + 1) + i] = away * normal[i] + size * (Math.cos(turn) * u[i] + Math.sin(turn) * v[i]);
    }
  }
  return out;
}

/** The unit normal of such a plane, and its distance from the origin, at most the radius.
 * @param {Float32Array} values @param {number} radius */
export function plane(values, radius) {
  const [b, ...ends] = values, w = [0, 1, 2].map((i) => (ends[i] ?? b) - b), size = Math.hypot(...w);
  const away = size > 0 ? Math.max(-radius, Math.min(radius, -b / size)) : radius;
  return { normal: size > 0 ? w.map((x) => x / size) : [0, 0, 1], away };
}

/** @param {number[]} a @param {number[]} b */
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

/** The outline of a histogram of equal bins; values outside the span count in the outermost.
 * @param {Float32Array} values @param {[number, number]} span @param {number} bins */
function histogram(values, [low, high], bins) {
  const counts = new Array(bins).fill(0), out = new Float32Array(4 * bins + 4);
  for (const v of values) counts[Math.max(0, Math.min(bins - 1, Math.floor(((v - low) / (high - low)) * bins)))]++;
  for (let e = 0; e <= bins; e++) {
    const edge = low + ((high - low) * e) / bins;
    out.set([edge, counts[e - 1] ?? 0, edge, counts[e] ?? 0], 4 * e);
  }
  return out;
}

/** The threshold between two neighbouring values that separates classes 0 and 1 best, and the share that it gets right.
 * @param {Float32Array} values @param {ArrayLike<number>} classes */
function bestThreshold(values, classes) {
  const order = Array.from(values, (_, i) => i).sort((i, j) => values[i] - values[j]), n = order.length;
  const all = Array.from(classes).filter((c) => c === 1).length;
  let ones = 0, best = { threshold: values[order[0]], accuracy: 0 };
  order.forEach((i, k) => {
    if (classes[i] === 1) ones++;
    const next = values[order[Math.min(k + 1, n - 1)]];
    if (k < n - 1 && !(next > values[i])) return;
    const right = all - ones + (k + 1 - ones), accuracy = Math.max(right, n - right) / n;
    if (accuracy > best.accuracy) best = { threshold: (values[i] + next) / 2, accuracy };
  });
  return best;
}

/** The share that a threshold, or else the best one, puts right: class 1 above it; the best may have it either way.
 * @param {Float32Array} values @param {ArrayLike<number>} classes @param {number | null} threshold */
export function accuracy(values, classes, threshold) {
  if (threshold === null) return bestThreshold(values, classes).accuracy;
  return values.reduce((right, v, i) => right + Number(v > threshold === (classes[i] === 1)), 0) / values.length;
}

/** @type {WeakMap<Layer, {source: any, followed: number, values: Float32Array}>} how each layer was coloured last */
const tints = new WeakMap();

/** The colour value of each point that a layer shows; the same array again while nothing has moved. @param {Layer} layer
 * @param {Recipe} recipe @param {Record<string, Float32Array[]>} all @param {Record<string, Float32Array>} at @param {number} followed */
export function layerValues(layer, recipe, all, at, followed) {
  const { values, row } = layer.color, cloud = cloudOf(recipe, layer.cloud);
  const source = values ?? (row.stage === null ? at : all)[layer.cloud], known = tints.get(layer);
  if (known && known.source === source && known.followed === followed) return known.values;
  const each = /** @type {Float32Array} */ (values ? unpack(values) : project([row], all[layer.cloud], at[layer.cloud], cloud.points.shape[0]));
  const only = layer.only === "followed" ? [Math.min(followed, each.length - 1)] : layer.only;
  const shades = only ? gather(each, 1, only) : each;
  tints.set(layer, { source, followed, values: shades });
  return shades;
}

/** The largest distance between two clouds, point by point, in their first m coordinates (all of a's).
 * @param {Float32Array} a @param {Float32Array} b @param {number} n @param {number} [m] */
export function residual(a, b, n, m) {
  const da = a.length / n, db = b.length / n;
  let largest = 0;
  for (let i = 0; i < n; i++) {
    let squares = 0;
    for (let j = 0; j < (m ?? da); j++) squares += (a[i * da + j] - b[i * db + j]) ** 2;
    largest = Math.max(largest, Math.sqrt(squares));
  }
  return largest;
}

/** The steps of one point as numbers. @param {ArrayLike<number>} x */
export function measures(x) {
  const d = x.length, components = Array.from(x);
  const mean = components.reduce((s, v) => s + v, 0) / d;
  const norm = Math.hypot(...components);
  const std = Math.hypot(...components.map((v) => v - mean)) / Math.sqrt(d);
  const cosine = Math.max(-1, Math.min(1, (mean * Math.sqrt(d)) / norm));
  return { components, mean, std, norm, angle: norm > 0 ? (Math.acos(cosine) * 180) / Math.PI : NaN };
}
