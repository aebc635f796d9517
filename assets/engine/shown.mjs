// @ts-check
/**
 * The points, colour values and opacity of a mark in a frame. Returns the same arrays
 * while nothing has moved.
 *
 * @typedef {import("./recipe.d.ts").Row} Row
 * @typedef {import("./recipe.d.ts").Mark} Mark
 * @typedef {import("./engine.mjs").Moment} Moment
 */

import { chosen, counted, withGaps } from "./chosen.mjs";
import { gather, onlyOf, rowMovers, unpack } from "./engine.mjs";
import { drawn, startsOf } from "./marks.mjs";
import { measured } from "./measures.mjs";
import { same } from "./time_slices.mjs";

/** @type {WeakMap<Mark, {inputs: unknown[], points: Float32Array}>} what each mark showed last */
const shown = new WeakMap();

/** The stages of the other cloud that decides which points a mark shows. @param {Mark} mark
 * @param {import("./engine.mjs").Stages} stages */
function seenBy(mark, stages) {
  const only = onlyOf(mark);
  const of = only && typeof only === "object" && "of" in only ? only.of : "";
  return of ? stages[of] : null;
}

/** The marks whose vertices are just their cloud's points, projected by rows. */
const PROJECTED_MARKS = new Set(["Points", "Line", "Mesh", "Sheet", "Labels"]);

/** Whether a mark looks the same at every progress. @param {Mark} mark */
function rests(mark) {
  const only = onlyOf(mark);
  const fixed = (/** @type {Row} */ row) => {
    while (row.over && row.stage !== null) row = row.over;
    return row.stage !== null;
  };
  return (
    PROJECTED_MARKS.has(mark.mark) &&
    mark.rows.every(fixed) &&
    (!only || only === "followed" || Array.isArray(only))
  );
}

/** @type {WeakMap<Mark, {still: boolean, names: string[], tinted: string[]}>} */
const natures = new WeakMap();

/** Whether a mark rests, and the parameters that move its rows and its colours. Cached for each mark.
 * @param {Mark} mark */
function natureOf(mark) {
  const known = natures.get(mark);
  if (known) return known;
  const row = shading(mark);
  const names = rowMovers("query" in mark && mark.query ? [...mark.rows, mark.query] : mark.rows);
  const found = { still: rests(mark), names, tinted: row ? rowMovers([row]) : [] };
  natures.set(mark, found);
  return found;
}

/** The row by whose values a mark is coloured, if any. @param {Mark} mark @returns {Row | null} */
function shading({ color }) {
  if (!color || "bdata" in color.of) return null;
  if (!("kind" in color.of)) return color.of;
  return "row" in color.of ? color.of.row : null;
}

/** The points that a mark shows; the same array while its cloud has not moved. @param {Mark} mark
 * @param {Moment} moment */
export function pointsOf(mark, moment) {
  const { stages, at, params, followed, progress } = moment;
  const known = shown.get(mark);
  const { still, names } = natureOf(mark);
  const inputs = [
    stages[mark.cloud],
    still ? null : at[mark.cloud],
    followed,
    mark.mark === "Trail" ? progress : 0,
    mark.mark === "Way" ? startsOf(mark, moment) : 0,
    seenBy(mark, stages),
    ...names.map((name) => params[name]),
  ];
  if (known && same(known.inputs, inputs)) return known.points;
  const points = drawn(mark, moment);
  shown.set(mark, { inputs, points });
  return points;
}

/** @type {WeakMap<Mark, {inputs: unknown[], values: Float32Array}>} how each mark was coloured last */
const tints = new WeakMap();

/** The colour value of each shown point, if the mark has any; the same array while nothing has moved.
 * @param {Mark} mark @param {Moment} moment */
export function valuesOf(mark, moment) {
  if (!mark.color) return null;
  const { stages, at, params, followed } = moment;
  const { of } = mark.color;
  const live = !("bdata" in of);
  const { cloud } = mark;
  const only = onlyOf(mark);
  const row = shading(mark);
  const now =
    (only && !Array.isArray(only)) || (live && (!row || row.stage === null || row.over)) ? at[cloud] : null;
  const inputs = [
    now,
    of,
    followed,
    live ? stages[cloud] : null,
    seenBy(mark, stages),
    ...natureOf(mark).tinted.map((name) => params[name]),
  ];
  const known = tints.get(mark);
  if (known && same(known.inputs, inputs)) return known.values;
  const each = live ? measured(of, cloud, moment) : /** @type {Float32Array} */ (unpack(of));
  const found = counted(only)
    ? withGaps(each, 1, mark, moment)
    : only
      ? gather(each, 1, chosen(mark, moment))
      : each;
  const values =
    known?.values.length === found.length && found.every((x, i) => Object.is(x, known.values[i]))
      ? known.values
      : found;
  tints.set(mark, { inputs, values });
  return values;
}

/** The opacity of a mark: one value for each stage, linear in between. @param {Mark} mark
 * @param {number} progress */
export function opacityOf({ opacity, fade }, progress) {
  if (!fade) return opacity;
  const k = Math.min(Math.floor(progress), fade.length - 1);
  const next = Math.min(k + 1, fade.length - 1);
  const f = progress - k;
  return opacity * ((1 - f) * fade[k] + f * fade[next]);
}
