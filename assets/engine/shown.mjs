// @ts-check
/**
 * The points, colour values and opacity that a mark (one drawn layer of a view) has in a frame. While nothing
 * that they depend on has changed, the same array objects are returned, so that the painter can skip
 * unchanged layers by identity.
 */

import { shownIndices, sizeCanChange, withGaps } from "./only.mjs";
import { gather, onlyOf, rowMovers, unpack } from "./engine.mjs";
import { drawn, startsOf } from "./marks.mjs";
import { measured } from "./measures.mjs";
import { same } from "./time_slices.mjs";
/** @import { Moment, Stages } from "./engine.mjs" */
/** @import { Mark, Row } from "./recipe.d.ts" */

/** When the names of axes fade. They begin to fade when the axes are 6 times as wide as their ranges, and are
 * gone at 8 times. components/language/recipe.py has the same numbers. */
const NAMES_FADE = [6, 8];

/** @type {WeakMap<Mark, {inputs: unknown[], points: Float32Array}>} the points that each mark showed last,
 * and the inputs from which they were computed */
const lastPoints = new WeakMap();

/** The stages of the cloud `only.of`, whose points decide which points of a mark are shown; null if there is
 * no such cloud. @param {Mark} mark @param {Stages} stages */
function selectingStages(mark, stages) {
  const only = onlyOf(mark);
  const of = only && typeof only === "object" && "of" in only ? only.of : "";
  return of ? stages[of] : null;
}

/** The kinds of marks whose vertices are exactly the points of their cloud, each projected by the mark's
 * rows. */
const PROJECTED_MARKS = new Set(["Points", "Line", "Mesh", "Sheet", "Labels"]);

/** The row by which a mark chooses its points, if its `only` is a `Highest`. @param {Mark} mark
 * @returns {Row[]} [] for other marks */
function choosingRow(mark) {
  const only = onlyOf(mark);
  return only && typeof only === "object" && "row" in only ? [only.row] : [];
}

/** The rows on whose values the points of a mark depend: those that it draws, its query, those that choose
 * its points. @param {Mark} mark @returns {Row[]} */
function rowsOf(mark) {
  const rows = [...mark.rows, ...choosingRow(mark)];
  if ("query" in mark && mark.query) rows.push(mark.query);
  if ("where" in mark && mark.where) rows.push(mark.where);
  return rows;
}

/** Whether a mark draws the same points at every position between stages. It does if its kind is among
 * PROJECTED_MARKS, all its rows read fixed stages, and the choice of the points that it shows does not depend
 * on current positions. @param {Mark} mark */
function isStill(mark) {
  const only = onlyOf(mark);
  /** @type {(row: Row) => boolean} */
  const fixed = ({ stage, over }) => stage !== null && (!over || fixed(over));
  return (
    PROJECTED_MARKS.has(mark.mark) &&
    rowsOf(mark).every(fixed) &&
    (!only || only === "followed" || Array.isArray(only))
  );
}

/** @type {WeakMap<Mark, {still: boolean, rowParameters: string[], colorParameters: string[]}>} results of
 * `natureOf` */
const natures = new WeakMap();

/** Properties that say on what a mark depends. still: whether it draws the same points at every position
 * between stages; rowParameters: the names of the parameters that occur in `rowsOf` it; colorParameters: the
 * names of the parameters that decide which colour values it shows. Cached for each mark.
 * @param {Mark} mark */
function natureOf(mark) {
  const known = natures.get(mark);
  if (known) return known;
  const row = colorRow(mark);
  const found = {
    still: isStill(mark),
    rowParameters: rowMovers(rowsOf(mark)),
    colorParameters: rowMovers([...(row ? [row] : []), ...choosingRow(mark)]),
  };
  natures.set(mark, found);
  return found;
}

/** The row whose values colour a mark; null if it has no colour scale, or if its colour values are constant
 * or come from a measure without a row. @param {Mark} mark @returns {Row | null} */
function colorRow({ color }) {
  if (!color || "bdata" in color.of) return null;
  if (!("kind" in color.of)) return color.of;
  return "row" in color.of ? color.of.row : null;
}

/** The display coordinates of the points that a mark draws: two or three numbers for each, NaN for gaps.
 * Returns the same array as long as nothing that moves the mark changes. @param {Mark} mark @param {Moment}
 * moment */
export function pointsOf(mark, moment) {
  const { stages, at, params, followed, progress } = moment;
  const known = lastPoints.get(mark);
  const { still, rowParameters } = natureOf(mark);
  const inputs = [
    stages[mark.cloud],
    still ? null : at[mark.cloud],
    followed,
    mark.mark === "Trail" ? progress : 0,
    mark.mark === "Way" ? startsOf(mark, moment) : 0,
    selectingStages(mark, stages),
    ...rowParameters.map((name) => params[name]),
  ];
  if (known && same(known.inputs, inputs)) return known.points;
  const points = drawn(mark, moment);
  lastPoints.set(mark, { inputs, points });
  return points;
}

/** @type {WeakMap<Mark, {inputs: unknown[], values: Float32Array}>} the colour values that each mark had
 * last, and the inputs from which they were computed */
const lastValues = new WeakMap();

/** One number for each point that a mark shows, which the mark's colour scale turns into a colour. Null if
 * the mark has a single colour. Returns the same array as long as the numbers do not change. @param {Mark}
 * mark @param {Moment} moment */
export function valuesOf(mark, moment) {
  if (!mark.color) return null;
  const { stages, at, params, followed } = moment;
  const { of } = mark.color;
  const computed = !("bdata" in of);
  const { cloud } = mark;
  const only = onlyOf(mark);
  const row = colorRow(mark);
  const readsPositions =
    (only && !Array.isArray(only)) || (computed && (!row || row.stage === null || row.over));
  const inputs = [
    readsPositions ? at[cloud] : null,
    of,
    followed,
    computed ? stages[cloud] : null,
    selectingStages(mark, stages),
    ...natureOf(mark).colorParameters.map((name) => params[name]),
  ];
  const known = lastValues.get(mark);
  if (known && same(known.inputs, inputs)) return known.values;
  const numbers = computed ? measured(of, cloud, moment) : /** @type {Float32Array} */ (unpack(of));
  const shownNumbers = sizeCanChange(only)
    ? withGaps(numbers, 1, mark, moment)
    : only
      ? gather(numbers, 1, shownIndices(mark, moment))
      : numbers;
  const values =
    known?.values.length === shownNumbers.length &&
    shownNumbers.every((x, i) => Object.is(x, known.values[i]))
      ? known.values
      : shownNumbers;
  lastValues.set(mark, { inputs, values });
  return values;
}

/** The opacity, 0 to 1, at which a mark is drawn: its own `opacity`, multiplied by its `fade` if it has one.
 * `fade` has one factor for each stage; later stages have the last factor. Between stages the factor is
 * interpolated linearly. Labels fade out in the first half of the way between two stages, and fade in during
 * the second half, so that one label is gone before another appears in the same place. Names of axes also
 * fade when `widening` is large (NAMES_FADE), because they would all be near the origin. @param {Mark} mark
 * @param {number} progress the position between stages, in stages @param {number} [widening] the factor by
 * which the axes of the mark's view are wider than their ranges */
export function opacityOf({ opacity, fade, draws, role }, progress, widening = 1) {
  const [fading, gone] = NAMES_FADE;
  if (draws === "labels" && role === "axis" && widening > fading)
    opacity *= Math.max(0, (gone - widening) / (gone - fading));
  if (!fade) return opacity;
  const k = Math.min(Math.floor(progress), fade.length - 1);
  const [before, after] = [fade[k], fade[Math.min(k + 1, fade.length - 1)]];
  let f = progress - k;
  if (draws === "labels") f = after > before ? Math.max(0, 2 * f - 1) : Math.min(1, 2 * f);
  return opacity * ((1 - f) * before + f * after);
}
