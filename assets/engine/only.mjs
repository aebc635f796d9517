// @ts-check
/**
 * The points of a cloud that a mark shows, according to the mark's field `only`, and their display
 * coordinates. Pure.
 */

import { gather, onlyOf, project, sizeOf } from "./engine.mjs";
import { FATES } from "./gates.mjs";
import { fatesOf, selectionOf } from "./measures.mjs";
/** @import { Moment } from "./engine.mjs" */
/** @import { Gated, Mark, Only, Row, Selectable, Unselectable } from "./recipe.d.ts" */

/** The display coordinates of all points of a mark's cloud, point by point: for each point, one number for
 * each row in `mark.rows`. @param {Mark} mark @param {Moment} moment */
export const allPoints = ({ cloud, rows }, { recipe, stages, at, params }) =>
  project(rows, stages[cloud], at[cloud], sizeOf(recipe, cloud), params);

/** The display coordinates of the points that a mark shows, point by point. If their number can change (see
 * `sizeCanChange`), the array has a place for every point of the cloud, and NaN for those that are not shown.
 * @param {Mark} mark @param {Moment} moment */
export function shownPoints(mark, moment) {
  const only = onlyOf(mark);
  if (!only) return allPoints(mark, moment);
  if (sizeCanChange(only)) return withGaps(allPoints(mark, moment), mark.rows.length, mark, moment);
  const { recipe, stages, at, params } = moment;
  const n = sizeOf(recipe, mark.cloud);
  const indices = shownIndices(mark, moment);
  const own = stages[mark.cloud];
  const used = new Set(
    mark.rows.flatMap(stagesOf).map((stage) => (stage === null ? null : Math.min(stage, own.length - 1))),
  );
  const few = (/** @type {Float64Array} */ points, /** @type {number | null} */ stage) =>
    used.has(stage) ? gather(points, points.length / n, indices) : points;
  return project(mark.rows, own.map(few), few(at[mark.cloud], null), indices.length, params);
}

/** The stages that a row reads, including those that its divisor (`over`) reads; null stands for the current
 * points, which may be between stages. @param {Row} row @returns {(number | null)[]} */
const stagesOf = ({ stage, over }) => [stage, ...(over ? stagesOf(over) : [])];

/** Whether the number of points that `only` selects can change while the figure moves. If it can, the
 * points that are not shown stay in the arrays as NaN, so that the arrays keep their lengths.
 * @param {Only} only @returns {only is Selectable | Unselectable | Gated} */
export const sizeCanChange = (only) =>
  only !== null && typeof only === "object" && "kind" in only && only.kind !== "highest";

/** The indices, in a mark's cloud, of the points that the mark shows. @param {{only?: Only, cloud: string}}
 * mark @param {Moment} moment @returns {number[]} */
export function shownIndices({ only, cloud }, moment) {
  const { recipe, stages, at, params, followed } = moment;
  const n = sizeOf(recipe, cloud);
  const those = (/** @type {(i: number) => boolean} */ asked) => {
    /** @type {number[]} */ const found = [];
    for (let i = 0; i < n; i++) if (asked(i)) found.push(i);
    return found;
  };
  if (!only) return those(() => true);
  if (only === "followed") return [Math.min(followed, n - 1)];
  if (Array.isArray(only)) return only;
  if (only.kind === "selectable" || only.kind === "unselectable") {
    const { wins } = selectionOf(at[cloud], cloud, moment);
    const asked = only.kind === "selectable";
    return those((i) => wins[i] === asked);
  }
  if (only.kind === "gated") {
    const { fateOf } = fatesOf(only, only.of || cloud, moment);
    const fate = FATES.indexOf(only.fate);
    return those((i) => fateOf[i] === fate);
  }
  const values = project([only.row], stages[cloud], at[cloud], n, params);
  let best = 0;
  for (let i = 1; i < n; i++) if (values[i] > values[best]) best = i;
  return [best];
}

/** A copy of `numbers`, which holds k numbers for each point of the mark's cloud. The numbers of points that
 * the mark does not show are NaN in the copy. @param {Float32Array} numbers @param {number} k @param {Mark}
 * mark @param {Moment} moment */
export function withGaps(numbers, k, mark, moment) {
  const out = new Float32Array(numbers.length).fill(NaN);
  for (const i of shownIndices(mark, moment)) for (let r = 0; r < k; r++) out[i * k + r] = numbers[i * k + r];
  return out;
}
