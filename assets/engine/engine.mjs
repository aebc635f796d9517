// @ts-check
/**
 * The engine computes positions from a recipe and parameters. Pure: no DOM, no Plotly.
 *
 * It mirrors geometry/pipeline.py (steps, stages, positions between stages) and components/language/cloud.py
 * (display coordinates). A test compares the engine with Python and PyTorch. The points that each mark draws
 * are computed in marks.mjs.
 *
 * @typedef {{dtype: string, shape: number[], bdata: string}} Packed an array in base64; see packed.mjs
 * @typedef {{base: Packed, terms?: Record<string, Packed>, tracks?: Record<string, {at: Packed, values:
 *   Packed}>}} Entries an array of numbers that may depend on parameters; see `value` in packed.mjs
 * @typedef {{kind: "affine", A: Entries | Of, b: Entries | null} | {kind: "normalize", radius: Entries, eps:
 *   Entries, groups: number[][] | null, convention: string} | {kind: "pointwise", function: string} | {kind:
 *   "product", groups: number[][]} | {kind: "softmax", temperature: Entries, causal: boolean} | {kind:
 *   "placed", names: string[][]} | {kind: "branches", pipelines: Step[][], join: "sum" | "concat"} | {kind:
 *   "derivative", pipeline: Step[]} | {kind: "attention", keys: number, causal: boolean} | {kind: "orbit",
 *   pipeline: Step[], state: number, count: Entries} | {kind: "flow", velocity: Step[], times: Packed, until:
 *   Entries, puts: {point: Entries, time: Entries, place: Entries}[]}} Step a step of a pipeline, or of a
 *   pipeline inside a step; see steps.mjs
 * @typedef {{of: string, stage: number | null, transposed: boolean, shape: number[]}} Of the points of
 *   another cloud as a matrix; see `matrix` in matrices.mjs
 * @typedef {Record<string, Float64Array[]>} Stages the points of each cloud, by its name, at every stage
 * @typedef {{name: string, points: Packed, place: Step[], steps: Step[], pictures?: Packed | null, labels?:
 *   string[] | null}} Cloud a set of points; `place` is applied to them before stage 0, then `steps`, the
 *   pipeline
 * @typedef {import("./recipe.d.ts").Row} Row
 * @typedef {import("./recipe.d.ts").Parameter} Parameter
 * @typedef {import("./recipe.d.ts").Readout} Readout
 * @typedef {import("./recipe.d.ts").View & {figure: Figure, wide: boolean}} View
 * @typedef {{data: Trace[], layout: Record<string, unknown>}} Figure a figure in Plotly's format, with
 *   colours as `var(--role)`
 * @typedef {Record<string, any>} Trace a trace in Plotly's format, which Plotly checks itself
 * @typedef {{name: string, kind: string, label: string, default: string | number, options: Record<string,
 *   string>, of?: string[], when?: [string, string[]] | null, min?: number, max?: number, folded?: boolean}}
 *   Choice a setting for which the server builds another recipe
 * @typedef {{html: string, questions: string, tour: import("../player/tour.mjs").Stop[]}} Text the text of a
 *   scene and the questions about it, both as HTML; and the stops of its tour
 * @typedef {Omit<import("./recipe.d.ts").Recipe, "views"> & {title: string, views: View[], choices: Choice[],
 *   chosen: Record<string, string | number>, text: Text | null}} Recipe as the server sends it. chosen: the
 *   values of the choices for which it was built
 * @typedef {Record<string, number>} Params the values of parameters, by their names
 * @typedef {{params: Params, all: Stages, first: number}} Context the data that steps read besides their
 *   points. all: the stages of the clouds that come earlier in the recipe; first: the index, in its cloud, of
 *   the first of the points
 * @typedef {(part: number) => number} Own the progress of one point, given its place in the cloud's order,
 *   from 0 (the first point) to 1 (the last)
 * @typedef {Record<string, Float64Array>} Progresses for some clouds, the progress of each point
 * @typedef {{recipe: Recipe, stages: Stages, at: Record<string, Float64Array>, params: Params, progress:
 *   number, followed: number, each?: Progresses | null}} Moment the state for which a frame is drawn. stages:
 *   the points of each cloud at every stage; at: its current points; progress: the position between stages,
 *   in stages; followed: the index of the selected point; each: for clouds whose points do not all have the
 *   same progress, the progress of each point
 */

import { unpack, movers } from "./packed.mjs";
import { affine, numbersOf } from "./matrices.mjs";
import { scratch } from "./scratch.mjs";
import { IN_PLACE_STEPS, apply, flattened, parametersOf, sourcesOf } from "./steps.mjs";
import { latest } from "./time_slices.mjs";

export { coordinate, gather, project, rowMovers } from "./coordinates.mjs";
export { movers, unpack, value } from "./packed.mjs";

/** The cloud with a given name. @param {Recipe} recipe @param {string} name */
export const cloudOf = (recipe, name) => /** @type {Cloud} */ (recipe.clouds.find((c) => c.name === name));

/** The number of points of a cloud. @param {Recipe} recipe @param {string} cloud */
export const sizeOf = (recipe, cloud) => cloudOf(recipe, cloud).points.shape[0];

/** The marks of all views of a recipe. @param {Pick<Recipe, "views">} recipe */
export const marksOf = ({ views }) => views.flatMap(({ layers }) => layers);

/** The parameter with a given name. @param {Recipe} recipe @param {string} name */
export const parameterOf = (recipe, name) =>
  /** @type {Parameter} */ (recipe.parameters.find((p) => p.name === name));

/** The clock of a recipe: the parameter, such as the training step, that can run by itself from its minimum
 * to its maximum; undefined if there is none. @param {Recipe} recipe @returns {Parameter | undefined} */
export const clockOf = (recipe) => recipe.parameters.find((p) => p.name === recipe.clock);

/** Whether a step is an affine map with the identity matrix and without a shift, so that it moves no point.
 * @param {Step} step */
function isIdentity(step) {
  if (step.kind !== "affine" || step.b || "of" in step.A || movers(step.A).length) return false;
  const [m, d] = step.A.base.shape;
  return m === d && unpack(step.A.base).every((a, i) => a === (i % (d + 1) ? 0 : 1));
}

/** The points of a cloud at every stage: one array for the start, and one after each step of its pipeline.
 * With `point`, other points take the place of the cloud's own. In both cases `cloud.place` is applied before
 * the pipeline. If a step moves nothing, the array after it is the same object as the one before.
 * @param {Cloud} cloud @param {Params} params @param {Stages} all the stages of the clouds that its steps
 * read @param {{at: Float64Array, index: number, n?: number}} [point] the coordinates of n points (by default
 * 1), and the index that the first of them would have in the cloud @param {Float64Array[]} [old] earlier
 * stages, whose memory is reused @returns {Float64Array[]} */
export function cloudStages(cloud, params, all, point, old = []) {
  const n = point ? (point.n ?? 1) : cloud.points.shape[0];
  const start = point?.at ?? unpack(cloud.points);
  const context = { params, all, first: point?.index ?? 0 };
  /** @type {Float64Array} */ let x = scratch(start.length);
  x.set(start);
  for (const step of cloud.place) x = apply(x, n, step, context);
  const out = [copied(x, old[0])];
  for (const step of cloud.steps) {
    const last = out[out.length - 1];
    out.push(isIdentity(step) ? last : stage(last, n, step, context, old[out.length]));
  }
  return out;
}

/** An array of `length` numbers in the memory of an old array; in new memory if the old array has another
 * length. The array object is new in both cases, because caches recognise changed points by the identity of
 * their array. @param {number} length @param {Float64Array} [old] */
const fresh = (length, old) => (old?.length === length ? old.subarray() : new Float64Array(length));

/**
 * Copy an array: into the memory of an old array if this has the same length, otherwise into new memory.
 * @param {Float64Array} x @param {Float64Array} [old]
 */
function copied(x, old) {
  const out = fresh(x.length, old);
  out.set(x);
  return out;
}

/** Apply a step to the n points in x. Later steps do not overwrite the array that is returned.
 * @param {Float64Array} x @param {number} n @param {Step} step @param {Context} context
 * @param {Float64Array} [old] an array whose memory may be reused @returns {Float64Array} */
function stage(x, n, step, context, old) {
  if (IN_PLACE_STEPS.has(step.kind)) return apply(copied(x, old), n, step, context);
  if (step.kind !== "affine") return copied(apply(x, n, step, context), old);
  const [A, b] = numbersOf(step, context);
  const m = A.length / (x.length / n || 1);
  return affine(x, n, A, b, { at: fresh(n * m, old), from: 0, stride: m });
}

/**
 * @typedef {{names: string[], sources: string[], slot: import("./time_slices.mjs").Slot<Float64Array[]>,
 *   before: Float64Array[] | undefined}} Known the cached stages of a cloud (slot), the names of the
 *   parameters and clouds that they depend on, and the stages before the last change, whose memory is reused
 *   next
 * @typedef {WeakMap<Cloud, Known>} Memory the cached stages of one user of a recipe, such as a figure. When
 *   the stages of a cloud are computed, the arrays of the last but one computation are overwritten
 */

/** The stages of a cloud; recomputed only if a parameter or another cloud that they depend on has changed.
 * @param {Cloud} cloud @param {Params} params @param {Stages} all the stages of the clouds before it in the
 * recipe @param {Memory} memory the cached stages */
function cachedStages(cloud, params, all, memory) {
  const known = memory.get(cloud) ?? newEntry(cloud);
  memory.set(cloud, known);
  const inputs = [...known.names.map((name) => params[name]), ...known.sources.map((name) => all[name])];
  const compute = () => {
    const found = cloudStages(cloud, params, all, undefined, known.before);
    known.before = known.slot.done?.result;
    return found;
  };
  return latest(known.slot, inputs, compute, true);
}

/** A new cache entry for a cloud: the names on which its stages depend, and no stages yet.
 * @param {Cloud} cloud @returns {Known} */
function newEntry(cloud) {
  const steps = flattened([...cloud.place, ...cloud.steps]);
  return { names: parametersOf(steps), sources: sourcesOf(steps), slot: {}, before: undefined };
}

/** The points of all clouds at every stage. A cloud can use the points only of clouds before it in the
 * recipe. If a frame has no time for a cloud (time_slices.mjs), its previous stages in `memory` are returned.
 * @param {Recipe} recipe @param {Params} params @param {Memory} [memory] where results are cached @returns
 * {Stages} */
export function stages(recipe, params, memory = new WeakMap()) {
  /** @type {Stages} */ const all = {};
  for (const cloud of recipe.clouds) all[cloud.name] = cachedStages(cloud, params, all, memory);
  return all;
}

/** The positions of n points at `progress`. Between two stages each point moves on a straight line; beyond
 * the last stage all points stay where they are at the last stage. If the stages have different numbers of
 * coordinates, missing ones count as 0. @param {ArrayLike<number>[]} stages of one cloud @param {number} n
 * @param {number | ArrayLike<number>} progress the position between stages, in stages: one for all points,
 * or one for each @param {Float64Array} [old] an array whose memory is reused @returns {ArrayLike<number>}
 * the positions: `old` or a new array. If one progress holds for all points, and they are at a stage or do
 * not move, the result is an array of `stages` itself, which must not be changed */
export function between(stages, n, progress, old) {
  if (typeof progress !== "number") return scattered(stages, n, progress, old);
  const p = Math.min(progress, stages.length - 1);
  const k = Math.min(Math.floor(p), stages.length - 2);
  const f = p - k;
  if (f === 0 || k < 0) return stages[Math.max(k, 0)];
  if (f === 1) return stages[k + 1];
  if (stages[k] === stages[k + 1]) return stages[k];
  const a = stages[k];
  const b = stages[k + 1];
  const da = a.length / n || 1;
  const db = b.length / n || 1;
  const d = Math.max(da, db);
  const out = fresh(n * d, old);
  if (da === db) for (let i = 0; i < out.length; i++) out[i] = (1 - f) * a[i] + f * b[i];
  else
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < d; j++) {
        out[i * d + j] = (j < da ? (1 - f) * a[i * da + j] : 0) + (j < db ? f * b[i * db + j] : 0);
      }
    }
  return out;
}

/** The result of `between` if `progress` has a separate number for each point.
 * @param {ArrayLike<number>[]} stages of one cloud @param {number} n the number of points
 * @param {ArrayLike<number>} progress the progress of each point, in stages @param {Float64Array} [old] an
 * array whose memory is reused */
function scattered(stages, n, progress, old) {
  const last = stages.length - 1;
  const widths = stages.map((points) => points.length / n || 1);
  const d = Math.max(...widths);
  const out = fresh(n * d, old);
  for (let i = 0; i < n; i++) {
    const p = Math.min(progress[i], last);
    const k = Math.min(Math.floor(p), Math.max(last - 1, 0));
    const f = p - k;
    const next = Math.min(k + 1, last);
    for (let j = 0; j < d; j++) {
      out[i * d + j] =
        (j < widths[k] ? (1 - f) * stages[k][i * widths[k] + j] : 0) +
        (j < widths[next] ? f * stages[next][i * widths[next] + j] : 0);
    }
  }
  return out;
}

/** The current points of all clouds, by the clouds' names, at a position between stages. @param {Recipe}
 * recipe @param {Params} params @param {number} progress the position, in stages @param {Own | null} [own] a
 * function that gives the progress of each point of the `loose` clouds; null if all points have the same
 * progress @returns {Record<string, Float64Array>} */
export function positions(recipe, params, progress, own = null) {
  return now(recipe, stages(recipe, params), progress, own && progresses(recipe, own));
}

/** The current points of all clouds, by the clouds' names, from stages that have been computed already.
 * @param {Recipe} recipe @param {Stages} all the points of each cloud at every stage @param {number} progress
 * in stages @param {Progresses | null} [each] for clouds whose points differ in progress, the progress of
 * each point @param {Places} [there] where results are cached @returns {Record<string, Float64Array>} */
export function now(recipe, all, progress, each = null, there = new WeakMap()) {
  return Object.fromEntries(
    recipe.clouds.map((cloud) => {
      const stages = all[cloud.name];
      const own = each?.[cloud.name] ?? progress;
      const known = there.get(cloud);
      if (known?.stages === stages && known.progress === own) return [cloud.name, known.points];
      const points = /** @type {Float64Array} */ (between(stages, cloud.points.shape[0], own, known?.way));
      there.set(cloud, { stages, progress: own, points, way: stages.includes(points) ? known?.way : points });
      return [cloud.name, points];
    }),
  );
}

/**
 * @typedef {WeakMap<Cloud, {stages: Float64Array[], progress: number | Float64Array, points: Float64Array,
 * way: Float64Array | undefined}>} Places the cached current points of each cloud; way: the last array that
 * was computed between two stages, whose memory is reused
 */

/** For each `loose` cloud, the progress of each of its points, as the function `own` gives it.
 * @param {Recipe} recipe @param {Own} own @returns {Progresses} */
export const progresses = (recipe, own) =>
  Object.fromEntries(
    [...loose(recipe)].map((cloud) => {
      const n = sizeOf(recipe, cloud);
      return [cloud, Float64Array.from({ length: n }, (_, i) => own(n > 1 ? i / (n - 1) : 0.5))];
    }),
  );

/** @type {WeakMap<Recipe["clouds"], Set<string>>} results of `loose` */
const looseClouds = new WeakMap();

/** The field `only` of a mark, which selects the points that it shows; null if it shows all.
 * @param {import("./recipe.d.ts").Mark} mark
 * @returns {import("./recipe.d.ts").Only} */
export const onlyOf = (mark) => ("only" in mark ? mark.only : null);

const FREE_MARKS = ["Points", "Trail", "Labels"];

/** The names of the loose clouds, whose points may start to move at different times. A loose cloud
 * has steps, and its points are drawn one by one, by `Points`. Nothing needs all of them at the same stage:
 * no line, surface, other cloud, or readout of a fate or residual uses the cloud. None of its marks selects
 * points by a property (such as `Selectable`) or a value (`Highest`), or is coloured by a measure other than
 * a row. If another cloud has the same steps and is drawn as a line or surface, the cloud is not loose,
 * because its points would leave that line or surface. @param {Recipe} recipe @returns {Set<string>} */
export function loose({ clouds, views, readouts }) {
  const found = looseClouds.get(clouds);
  if (found) return found;
  const marks = marksOf({ views });
  const sources = new Set(clouds.flatMap(({ place, steps }) => sourcesOf(flattened([...place, ...steps]))));
  const whole = new Set([
    ...sources,
    ...readouts.flatMap((r) => (r.kind === "residual" ? [r.a, r.b] : r.kind === "fate" ? [r.keys] : [])),
    ...marks.flatMap((mark) => {
      const only = onlyOf(mark);
      return FREE_MARKS.includes(mark.mark) &&
        !(only && !Array.isArray(only) && typeof only === "object") &&
        !(mark.color && "kind" in mark.color.of)
        ? []
        : [mark.cloud];
    }),
  ]);
  const guides = clouds.filter(
    ({ name }) =>
      marks.some(({ cloud, draws }) => cloud === name && ["line", "mesh"].includes(draws)) && whole.has(name),
  );
  const free = clouds.filter(
    (cloud) =>
      cloud.steps.length &&
      !whole.has(cloud.name) &&
      marks.some(({ cloud: name, mark }) => name === cloud.name && mark === "Points") &&
      !guides.some(({ steps }) => alike(steps, cloud.steps)),
  );
  const names = new Set(free.map(({ name }) => name));
  looseClouds.set(clouds, names);
  return names;
}

/** Whether two parts of a recipe would be the same JSON, whatever the order of names in objects.
 * @param {unknown} a @param {unknown} b @returns {boolean} */
function alike(a, b) {
  if (a === b || !a || !b || typeof a !== "object" || typeof b !== "object") return a === b;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => alike(Reflect.get(a, name), Reflect.get(b, name)))
  );
}

/** The largest distance between a point of a and the point of b with the same index, for n points each, in
 * their first m coordinates (by default as many as a has). @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b @param {number} n @param {number} [m] */
export function residual(a, b, n, m) {
  const da = a.length / n;
  const db = b.length / n;
  let largest = 0;
  for (let i = 0; i < n; i++) {
    let squares = 0;
    for (let j = 0; j < (m ?? da); j++) squares += (a[i * da + j] - b[i * db + j]) ** 2;
    largest = Math.max(largest, Math.sqrt(squares));
  }
  return largest;
}

/** The coordinates of one point (components), their mean and standard deviation (std), the point's norm, and
 * the angle between the point and the direction (1, …, 1). The angle is in degrees from 0 to 180, and NaN at
 * the origin. @param {ArrayLike<number>} x the point */
export function measures(x) {
  const d = x.length;
  const components = Array.from(x);
  const mean = components.reduce((s, v) => s + v, 0) / d;
  const norm = Math.hypot(...components);
  const std = Math.hypot(...components.map((v) => v - mean)) / Math.sqrt(d);
  const cosine = Math.max(-1, Math.min(1, (mean * Math.sqrt(d)) / norm));
  return { components, mean, std, norm, angle: norm > 0 ? (Math.acos(cosine) * 180) / Math.PI : NaN };
}
