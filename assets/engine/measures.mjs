// @ts-check
/**
 * Properties of a cloud's current points: their convex hull, which of them attention can select as keys, the
 * effect of a ReLU layer on them (their fates), and measures, which give each point a number. The last result
 * for each cloud is cached. Pure.
 */

import { cloudOf, project, sizeOf, unpack, value } from "./engine.mjs";
import { fates } from "./gates.mjs";
import { hull } from "./hull.mjs";
import { certificate, selection, weights } from "./selection.mjs";
import { dot } from "./vectors.mjs";
/** @import { Cloud, Moment, Packed } from "./engine.mjs" */
/** @import { Measure } from "./recipe.d.ts" */
/** @import { Certificate } from "./selection.mjs" */

/** @type {WeakMap<Float64Array[], Map<string, ReturnType<typeof fates>>>} results of `fatesOf`: for the
 * stages of a cloud, by the index of the layer's step and the basis */
const gated = new WeakMap();

/** The effect of a ReLU layer on each point of a cloud: the point's fate (whether other points have the same
 * image), as an index of FATES (`fateOf`); and the rank of the linear piece that contains it (`ranks`).
 * `highest` is the largest rank that is possible. The layer is the affine step at the index `before`,
 * followed by max(·, 0). Throws if the step's matrix is another cloud (`Of`). The points lie on a circle or
 * sphere in the space that the rows of `basis` span. @param {{before: number, basis: Packed}} only
 * @param {string} name the cloud's name @param {Moment} moment
 */
export function fatesOf({ before, basis }, name, { recipe, stages, params }) {
  const cloudStages = stages[name];
  const n = sizeOf(recipe, name);
  const key = `${before} ${basis.shape} ${basis.dtype} ${basis.bdata}`;
  const found = gated.get(cloudStages)?.get(key);
  if (found) return found;
  const from = cloudStages[before];
  const [m, d] = basis.shape;
  const along = unpack(basis);
  const x = new Float64Array(n * m);
  for (let i = 0; i < n; i++)
    for (let k = 0; k < m; k++)
      for (let j = 0; j < d; j++) x[i * m + k] += along[k * d + j] * from[i * d + j];
  const next = fates(layer(cloudOf(recipe, name), before, basis, params), x, cloudStages[before + 1], n);
  gated.set(cloudStages, (gated.get(cloudStages) ?? new Map()).set(key, next));
  return next;
}

/** The matrix W and vector b of the affine step at the index `before` of a cloud's steps. W is given in
 * coordinates with respect to the rows of `basis`, which are an orthonormal basis of a subspace.
 * Throws if the step is of another kind, or its matrix is another cloud (`Of`). @param {Cloud} cloud
 * @param {number} before @param {Packed} basis @param {Record<string, number>} params */
export function layer({ steps }, before, basis, params) {
  const step = steps[before];
  if (step.kind !== "affine" || "of" in step.A) throw new Error(`step ${before} is no Affine of its own`);
  const d = basis.shape[1];
  const A = rowsOf(value(step.A, params), d);
  const directions = rowsOf(unpack(basis), d);
  const W = A.map((row) => directions.map((direction) => dot(direction, row)));
  return { W, b: step.b ? value(step.b, params) : new Float64Array(W.length) };
}

/**
 * The rows of a matrix with d columns.
 * @param {ArrayLike<number>} matrix @param {number} d @returns {number[][]}
 */
const rowsOf = (matrix, d) =>
  Array.from({ length: matrix.length / d }, (_, i) => Array.from({ length: d }, (_, j) => matrix[i * d + j]));

/** Return a cached version of `find`, a function of points. Results are cached by the identity of the array
 * of points: n points with d coordinates each. For a new array, `find` is called with the latest result for
 * the same cloud (before), from which it can start. @template T @param {(points: Float64Array, n: number, d:
 * number, before: T | undefined, name: string, moment: Moment) => T} find @returns {(points: Float64Array,
 * name: string, moment: Moment) => T} */
function remembering(find) {
  /** @type {WeakMap<Float64Array, T>} */ const results = new WeakMap();
  /** @type {WeakMap<Cloud, T>} */ const latest = new WeakMap();
  return (points, name, moment) => {
    const cloud = cloudOf(moment.recipe, name);
    const n = cloud.points.shape[0];
    const known =
      results.get(points) ?? find(points, n, points.length / n || 1, latest.get(cloud), name, moment);
    // an array whose result is already known, such as a stage that is needed in every frame, is not the
    // latest
    if (!results.has(points)) latest.set(cloud, known);
    results.set(points, known);
    return known;
  };
}

/** Decide which points of a cloud, as keys, attention can select: a `Selection` (selection.mjs). The result
 * keeps a copy of the points. The copy is compared with the points of the next moment, which are written into
 * the memory of the original points. */
export const selectionOf = remembering((points, n, d, before) => selection(points.slice(), n, d, before));
const weightsOf = remembering((points, n, d, before, name, moment) =>
  weights(selectionOf(points, name, moment), n, d, before),
);
const hullThere = remembering((points, n, d, before) => hull(points.slice(), n, d, before));

/** The convex hull of a cloud's current points. @param {string} cloud the cloud's name @param {Moment}
 * moment */
export const hullOf = (cloud, moment) => hullThere(moment.at[cloud], cloud, moment);

/**
 * @type {WeakMap<Float64Array, {followed: number, found: Certificate}>} for the points of a cloud, the
 *   certificate of the point that was followed (selected) last
 */
const certificates = new WeakMap();

/** The certificate of the followed (selected) point of a cloud as a key: the largest attention weight that
 * any query can give it, with a proof. @param {string} cloud @param {Moment} moment */
export function certificateOf(cloud, { recipe, at, followed }) {
  const points = at[cloud];
  const n = sizeOf(recipe, cloud);
  const k = Math.min(followed, n - 1);
  const known = certificates.get(points);
  if (known?.followed === k) return known.found;
  const found = certificate(points, n, points.length / n || 1, k);
  certificates.set(points, { followed: k, found });
  return found;
}

/** The values of a measure: one number for each point of a cloud. @param {Measure} measure
 * @param {string} cloud @param {Moment} moment @returns {Float32Array} */
export function measured(measure, cloud, moment) {
  const { recipe, stages, at, params } = moment;
  const n = sizeOf(recipe, cloud);
  if (!("kind" in measure)) return project([measure], stages[cloud], at[cloud], n, params);
  if (measure.kind === "softmaxweight")
    return softmax(project([measure.row], stages[cloud], at[cloud], n, params));
  if (measure.kind === "angle") return toMeanLine(at[cloud], n);
  const points = measure.stage === null ? at[cloud] : stages[cloud][measure.stage];
  return new Float32Array(weightsOf(points, cloud, moment).largest);
}

/** The angle between each of n points and the line through the origin along (1, …, 1), in degrees from 0 to
 * 90; 90 at the origin. @param {Float64Array} points @param {number} n */
function toMeanLine(points, n) {
  const d = points.length / n;
  return Float32Array.from({ length: n }, (_, i) => {
    let sum = 0;
    let squares = 0;
    for (let j = i * d; j < (i + 1) * d; j++) {
      sum += points[j];
      squares += points[j] ** 2;
    }
    return (Math.acos(squares > 0 ? Math.min(1, Math.abs(sum) / Math.sqrt(squares * d)) : 0) * 180) / Math.PI;
  });
}

/** The softmax of scores. @param {Float32Array} scores */
function softmax(scores) {
  const largest = Math.max(...scores);
  const each = scores.map((x) => Math.exp(x - largest));
  const sum = each.reduce((s, x) => s + x, 0);
  return each.map((x) => x / sum);
}
