// @ts-check
/**
 * Marks: what is drawn of a cloud, as in components/language/marks.py. One function for each, of the same name: its points in display
 * coordinates, in drawing order, with gaps as NaN. Pure. A test holds the names, and the points of each, together.
 *
 * @typedef {import("./engine.mjs").Row} Row
 * @typedef {import("./engine.mjs").Packed} Packed
 * @typedef {number[] | "followed" | {kind: "highest", row: Row} | {kind: "onhull"} | {kind: "inside"} | null} Only
 * @typedef {{scale: string, low: number, high: number, of: Packed | Row, title: string}} Color
 * @typedef {{kind: "follow"} | {kind: "choose", choice: string, numbers: Packed} | {kind: "drag", x: string, y: string}
 *   | {kind: "turn", angle: string}} Hand
 * @typedef {{mark: string, draws: string, cloud: string, role: string, rows: Row[], title: string, opacity: number,
 *   fade: number[] | null, color: Color | null, hand: Hand | null, [field: string]: any}} Mark
 * @typedef {{recipe: import("./engine.mjs").Recipe, stages: Record<string, Float32Array[]>, at: Record<string, Float32Array>,
 *   params: Record<string, number>, progress: number, followed: number}} Moment what is known when a frame is drawn
 */

import { between, cloudOf, gather, project, rowMovers, unpack } from "./engine.mjs";
import { hull } from "./hull.mjs";
import { bestThreshold, disc, histogram, semiAxes, withHeads } from "./geometry.mjs";

/** @type {Record<string, (mark: Mark, moment: Moment) => Float32Array>} */
export const MARKS = {
  Points: (mark, moment) => some(mark, moment),

  Line(mark, moment) {
    const points = all(mark, moment), k = mark.rows.length;
    return withHeads(mark.order ? gather(points, k, unpack(mark.order)) : points, k, mark.arrow);
  },

  /** Joins where a point was at each stage to where it is: its later corners rest on the point itself. */
  Trail(mark, moment) {
    const { recipe, stages, params, progress } = moment;
    const own = stages[mark.cloud], n = sizeOf(recipe, mark.cloud), indices = chosen(mark, moment);
    const m = indices.length, k = mark.rows.length, corners = own.length + 1;
    const out = new Float32Array(m * corners * k).fill(NaN), few = own.map((stage) => gather(stage, stage.length / n, indices));
    few.forEach((_, s) => {
      const points = project(mark.rows, few, between(few, m, Math.min(s, progress)), m, params);
      for (let i = 0; i < m; i++) out.set(points.subarray(i * k, (i + 1) * k), (i * corners + s) * k);
    });
    return withHeads(out, k, mark.arrow);
  },

  SemiAxes({ cloud, rows }, { recipe, at, params }) {
    const n = sizeOf(recipe, cloud), d = at[cloud].length / n, middle = Array.from(at[cloud].subarray(0, d));
    const ends = semiAxes(at[cloud], n).flatMap((axis) =>
      [middle.map((m, j) => m - axis[j]), middle.map((m, j) => m + axis[j]), middle.map(() => NaN)]);
    return still(rows, Float32Array.from(ends.flat()), ends.length, params);
  },

  Rim: (mark, moment) => round(mark, moment).subarray(mark.rows.length),

  Hull(mark, moment) {
    return gather(all(mark, moment), mark.rows.length, hullOf(mark.cloud, moment).order);
  },

  HullFaces(mark, moment) {
    const { triangles } = hullOf(mark.cloud, moment), indices = new Int32Array(3 * Math.max(2 * mark.count - 4, 1));
    indices.set(triangles.flat());
    return gather(all(mark, moment), mark.rows.length, indices);
  },

  Histogram: (mark, moment) => histogram(some(mark, moment), mark.span, mark.bins),

  Profile(mark, moment) {
    const points = moment.at[mark.cloud], d = points.length / sizeOf(moment.recipe, mark.cloud), indices = chosen(mark, moment);
    const out = new Float32Array(indices.length * (d + 1) * 2).fill(NaN);
    indices.forEach((i, line) => {
      for (let j = 0; j < d; j++) out.set([j + 1, points[i * d + j]], (line * (d + 1) + j) * 2);
    });
    return out;
  },

  Threshold(mark, moment) {
    const cut = bestThreshold(all(mark, moment), unpack(mark.classes)).threshold, [low, high] = mark.span;
    return Float32Array.of(cut, low, cut, high);
  },

  Mesh: (mark, moment) => all(mark, moment),

  Disc: (mark, moment) => round(mark, moment),

  Labels: (mark, moment) => all(mark, moment),

  Field: () => new Float32Array(),
};

/** @param {import("./engine.mjs").Recipe} recipe @param {string} cloud @returns {number} how many points it has */
const sizeOf = (recipe, cloud) => cloudOf(recipe, cloud).points.shape[0];

/** Display coordinates of all points of a mark's cloud. @param {Mark} mark @param {Moment} moment */
const all = ({ cloud, rows }, { recipe, stages, at, params }) => project(rows, stages[cloud], at[cloud], sizeOf(recipe, cloud), params);

/** The same of those that it shows. @param {Mark} mark @param {Moment} moment */
function some(mark, moment) {
  if (!mark.only) return all(mark, moment);
  if (counted(mark.only)) return kept(all(mark, moment), mark.rows.length, mark, moment);
  const { recipe, stages, at, params } = moment, n = sizeOf(recipe, mark.cloud), indices = chosen(mark, moment);
  const few = (/** @type {Float32Array} */ points) => gather(points, points.length / n, indices);
  return project(mark.rows, stages[mark.cloud].map(few), few(at[mark.cloud]), indices.length, params);
}

/** Whether the number of such points changes with the moment: the others then stay in their places, as gaps. @param {Only} only
 * @returns {only is {kind: "onhull"} | {kind: "inside"}} */
const counted = (only) => only !== null && typeof only === "object" && "kind" in only && only.kind !== "highest";

/** The numbers of the points to show. @param {{only?: Only, cloud: string}} mark @param {Moment} moment @returns {number[]} */
export function chosen({ only, cloud }, moment) {
  const { recipe, stages, at, params, followed } = moment, n = sizeOf(recipe, cloud), every = Array.from({ length: n }, (_, i) => i);
  if (!only) return every;
  if (only === "followed") return [Math.min(followed, n - 1)];
  if (Array.isArray(only)) return only;
  if (only.kind !== "highest") return every.filter((i) => hullOf(cloud, moment).corners[i] === (only.kind === "onhull"));
  const values = project([only.row], stages[cloud], at[cloud], n, params);
  return [every.reduce((best, i) => (values[i] > values[best] ? i : best), 0)];
}

/** Numbers of all points (k each), those that are not shown as gaps. @param {Float32Array} numbers @param {number} k @param {Mark} mark
 * @param {Moment} moment */
function kept(numbers, k, mark, moment) {
  const shown = new Set(chosen(mark, moment));
  return numbers.map((x, o) => (shown.has(Math.floor(o / k)) ? x : NaN));
}

/** @type {WeakMap<Float32Array, import("./hull.mjs").Hull>} of where points were last */
const hulls = new WeakMap();

/** The convex hull of where a cloud's points are now. @param {string} cloud @param {Moment} moment */
function hullOf(cloud, { recipe, at }) {
  const points = at[cloud], n = sizeOf(recipe, cloud), known = hulls.get(points) ?? hull(points, n, points.length / n || 1);
  hulls.set(points, known);
  return known;
}

/** The middle of a disc, and its edge. @param {Mark} mark @param {Moment} moment */
function round({ cloud, rows, radius, corners }, { at, params }) {
  const points = disc(at[cloud], radius, corners);
  return still(rows, points, points.length / 3, params);
}

/** Display coordinates of points that are no cloud's: they have been nowhere else. @param {Row[]} rows @param {Float32Array} points
 * @param {number} n @param {Record<string, number>} params */
const still = (rows, points, n, params) => project(rows, [points], points, n, params);

// What a frame shows

/** @type {WeakMap<Mark, {inputs: any[], points: Float32Array}>} what each mark showed last */
const shown = new WeakMap();

/** What a mark shows; where its cloud has not moved, the same array again. @param {Mark} mark @param {Moment} moment */
export function pointsOf(mark, moment) {
  const { stages, at, params, followed, progress } = moment, known = shown.get(mark);
  const inputs = [stages[mark.cloud], at[mark.cloud], followed, mark.mark === "Trail" ? progress : 0, ...rowMovers(mark.rows).map((name) => params[name])];
  if (known && inputs.every((input, i) => input === known.inputs[i])) return known.points;
  const points = MARKS[mark.mark](mark, moment);
  shown.set(mark, { inputs, points });
  return points;
}

/** @type {WeakMap<Mark, {inputs: any[], values: Float32Array}>} how each mark was coloured last */
const tints = new WeakMap();

/** The colour value of each point that a mark shows, if it has any; the same array again while nothing has moved.
 * @param {Mark} mark @param {Moment} moment */
export function valuesOf(mark, moment) {
  if (!mark.color) return null;
  const { recipe, stages, at, params, followed } = moment;
  const { of } = mark.color, row = "weights" in of ? of : null, { cloud } = mark;
  const now = mark.only && !Array.isArray(mark.only) ? at[cloud] : null;
  const inputs = [now, ...(row ? [row.stage === null || row.over ? at[cloud] : null, stages[cloud], followed, ...rowMovers([row]).map((name) => params[name])] : [of, followed])];
  const known = tints.get(mark);
  if (known && inputs.every((input, i) => input === known.inputs[i])) return known.values;
  const n = sizeOf(recipe, cloud);
  const each = row ? project([row], stages[cloud], at[cloud], n, params) : /** @type {Float32Array} */ (unpack(/** @type {Packed} */ (of)));
  const values = counted(mark.only) ? kept(each, 1, mark, moment) : mark.only ? gather(each, 1, chosen(mark, moment)) : each;
  tints.set(mark, { inputs, values });
  return values;
}

/** Opacity of a mark: one value a stage, linear between them. @param {Mark} mark @param {number} progress */
export function opacityOf({ opacity, fade }, progress) {
  if (!fade) return opacity;
  const k = Math.min(Math.floor(progress), fade.length - 1), next = Math.min(k + 1, fade.length - 1), f = progress - k;
  return opacity * ((1 - f) * fade[k] + f * fade[next]);
}
