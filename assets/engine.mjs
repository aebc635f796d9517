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
 * @typedef {{stage: number | null, weights: number[]}} Row
 * @typedef {{cloud: string, kind: string, role: string, rows: Row[], only: number[] | "followed" | null,
 *   order: Packed | null, fade: number[] | null, color: any}} Layer
 * @typedef {{name: string, dims: number, layers: Layer[], [key: string]: any}} View
 * @typedef {{stages: string[], clouds: Cloud[], views: View[], parameters: any[], [key: string]: any}} Recipe
 * @typedef {Record<string, number>} Params
 */

/** @type {WeakMap<Packed, Float64Array | Float32Array | Int32Array>} */
const unpacked = new WeakMap();
const KINDS = { f4: Float32Array, f8: Float64Array, i4: Int32Array };

/** The numbers of a packed array (base64, little endian), decoded once. @param {Packed} packed */
export function unpack(packed) {
  let array = unpacked.get(packed);
  if (!array) {
    const bytes = Uint8Array.from(atob(packed.bdata), (c) => c.charCodeAt(0));
    array = new KINDS[/** @type {keyof KINDS} */ (packed.dtype)](bytes.buffer);
    unpacked.set(packed, array);
  }
  return array;
}

/**
 * base + Σ p·term + Σ track(p): constants, entries affine in parameters, and entries that follow a track.
 * @param {Entries} entries @param {Params} params @returns {Float64Array}
 */
export function value(entries, params) {
  const out = Float64Array.from(unpack(entries.base));
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
  relu: (x) => (x > 0 ? x : 0),
  gelu: (x) => (x / 2) * (1 + erf(x / Math.SQRT2)),
};

/** @param {Float64Array} x @param {number} n @param {Float64Array} A @param {Float64Array | null} b */
function affine(x, n, A, b) {
  const d = x.length / n || 1, m = A.length / d;
  const y = new Float64Array(n * m);
  for (let i = 0; i < n; i++) {
    for (let r = 0; r < m; r++) {
      let sum = b ? b[r] : 0;
      for (let j = 0; j < d; j++) sum += A[r * d + j] * x[i * d + j];
      y[i * m + r] = sum;
    }
  }
  return y;
}

/**
 * Each group of coordinates to its sphere: R·v / r(v); the zero vector stays where it is.
 * @param {Float64Array} x @param {number} n @param {number} radius @param {number} eps
 * @param {number[][] | null} groups @param {string} convention
 */
function normalize(x, n, radius, eps, groups, convention) {
  const y = x.slice(), d = x.length / n || 1;
  for (const group of groups ?? [Array.from({ length: d }, (_, j) => j)]) {
    const size = group.length;
    for (let i = 0; i < n; i++) {
      let squares = 0;
      for (const j of group) squares += x[i * d + j] ** 2;
      const length = convention === "std" ? Math.sqrt(squares) + eps * Math.sqrt(size)
        : Math.sqrt(squares + (convention === "pytorch" ? size : 1) * eps);
      const scale = length > 0 ? radius / length : 0;
      for (const j of group) y[i * d + j] = x[i * d + j] * scale;
    }
  }
  return y;
}

/** @param {Float64Array} x @param {number} n @param {Step} step @param {Params} params */
function apply(x, n, step, params) {
  if (step.kind === "affine") return affine(x, n, value(step.A, params), step.b && value(step.b, params));
  if (step.kind === "pointwise") return x.map(FUNCTIONS[step.function]);
  return normalize(x, n, value(step.radius, params)[0], value(step.eps, params)[0], step.groups, step.convention);
}

/** The stages of one cloud (of `points` in place of its own, where given). @param {Cloud} cloud @param {Params} params
 * @param {Float64Array} [points] @returns {Float32Array[]} */
export function cloudStages(cloud, params, points) {
  const n = points ? 1 : cloud.points.shape[0];
  let x = points ?? Float64Array.from(unpack(cloud.points));
  for (const step of cloud.place) x = apply(x, n, step, params);
  const out = [Float32Array.from(x)];
  for (const step of cloud.steps) out.push(Float32Array.from((x = apply(x, n, step, params))));
  return out;
}

/** For each cloud, a Float32Array a stage. @param {Recipe} recipe @param {Params} params @returns {Record<string, Float32Array[]>} */
export function stages(recipe, params) {
  return Object.fromEntries(recipe.clouds.map((cloud) => [cloud.name, cloudStages(cloud, params)]));
}

const SMALLEST_SINE = 1e-6;

/** Between two stages of n points each: on straight lines, or along the sphere. A cloud that has fewer steps than the
 * recipe rests at its last stage. @param {Float32Array[]} stages @param {number} n @param {number} progress @param {string} path */
export function between(stages, n, progress, path) {
  const p = Math.min(progress, stages.length - 1), k = Math.min(Math.floor(p), stages.length - 2), f = p - k;
  if (f === 0 || k < 0) return stages[Math.max(k, 0)];
  if (f === 1) return stages[k + 1];
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
  let dot = 0, aa = 0, bb = 0;
  for (const x of a) aa += x * x;
  for (const x of b) bb += x * x;
  for (let j = 0; j < Math.min(a.length, b.length); j++) dot += a[j] * b[j];
  const na = Math.sqrt(aa), nb = Math.sqrt(bb), cosine = Math.max(-1, Math.min(1, dot / (na * nb)));
  const sine = Math.sqrt(1 - cosine * cosine);
  if (!(na > 0 && nb > 0) || sine < SMALLEST_SINE) return [1 - f, f];
  const angle = Math.acos(cosine), norm = (1 - f) * na + f * nb;
  return [(norm * Math.sin((1 - f) * angle)) / sine / na, (norm * Math.sin(f * angle)) / sine / nb];
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
 * One display coordinate of n points: ⟨weights, point⟩, at the progress or at a fixed stage.
 * @param {Row} row @param {Float32Array} points @param {number} n @param {Float32Array} out @param {number} offset @param {number} stride
 */
function coordinate(row, points, n, out, offset, stride) {
  const d = points.length / n || 1, m = Math.min(d, row.weights.length);
  for (let i = 0; i < n; i++) {
    let sum = 0;
    for (let j = 0; j < m; j++) sum += row.weights[j] * points[i * d + j];
    out[offset + i * stride] = sum;
  }
}

/** @param {Row[]} rows @param {Float32Array[]} stagesOfCloud @param {Float32Array} points @param {number} n */
function project(rows, stagesOfCloud, points, n) {
  const out = new Float32Array(n * rows.length);
  rows.forEach((row, r) => {
    const at = row.stage === null ? points : stagesOfCloud[Math.min(row.stage, stagesOfCloud.length - 1)];
    coordinate(row, at, n, out, r, rows.length);
  });
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
 * @param {Recipe} recipe @param {Layer} layer @param {Record<string, Float32Array[]>} all
 * @param {Record<string, Float32Array>} at @param {number} progress @param {number} followed
 */
export function layerPoints(recipe, layer, all, at, progress, followed) {
  const cloud = /** @type {Cloud} */ (recipe.clouds.find((c) => c.name === layer.cloud));
  const n = cloud.points.shape[0], k = layer.rows.length, own = all[layer.cloud];
  const only = layer.only === "followed" ? [Math.min(followed, n - 1)] : layer.only;
  if (layer.kind === "trail") {
    const indices = only ?? Array.from({ length: n }, (_, i) => i), corners = own.length + 1;
    const out = new Float32Array(indices.length * corners * k).fill(NaN);
    own.forEach((_, s) => {
      const points = project(layer.rows, own, between(own, n, Math.min(s, progress), cloud.path), n);
      indices.forEach((index, i) => out.set(points.subarray(index * k, (index + 1) * k), (i * corners + s) * k));
    });
    return out;
  }
  const points = project(layer.rows, own, at[layer.cloud], n);
  if (layer.order && layer.kind === "line") return gather(points, k, unpack(layer.order));
  return only ? gather(points, k, only) : points;
}

/** The colour value of each point of a layer: a coordinate of where it is now. @param {Layer} layer
 * @param {Recipe} recipe @param {Record<string, Float32Array[]>} all @param {Record<string, Float32Array>} at */
export function layerValues(layer, recipe, all, at) {
  const cloud = /** @type {Cloud} */ (recipe.clouds.find((c) => c.name === layer.cloud));
  return project([layer.color.row], all[layer.cloud], at[layer.cloud], cloud.points.shape[0]);
}

/** The largest distance between two clouds, point by point. @param {Float32Array} a @param {Float32Array} b @param {number} n */
export function residual(a, b, n) {
  const d = a.length / n;
  let largest = 0;
  for (let i = 0; i < n; i++) {
    let squares = 0;
    for (let j = 0; j < d; j++) squares += (a[i * d + j] - b[i * d + j]) ** 2;
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
