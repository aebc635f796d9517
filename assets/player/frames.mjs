// @ts-check
/** The contents of a frame: what every mark of every view shows at a moment, and hover texts. Pure. */

import { cloudOf } from "../engine/engine.mjs";
import { follows } from "../engine/hands.mjs";
import { opacityOf, pointsOf, valuesOf } from "../engine/shown.mjs";
import { zoomOf } from "../engine/perspective.mjs";

/** @typedef {import("../engine/engine.mjs").Moment} Moment */

/** @type {WeakMap<Float64Array, string[]>} where each point of a cloud is, in words for hovering */
const hoverTextsOf = new WeakMap();

/** @param {Moment} moment @param {boolean} rest with texts for hovering
 * @returns {import("../painter/painter.mjs").Frame[]} one for each view */
export const framesOf = (moment, rest) =>
  moment.recipe.views.map((view) =>
    Object.assign(
      view.layers.map((mark) => ({
        points: pointsOf(mark, moment),
        opacity: opacityOf(mark, moment.progress),
        values: valuesOf(mark, moment),
        text: rest && follows(mark) ? hoverTexts(mark.cloud, moment) : undefined,
      })),
      { zoom: zoomOf(view, moment.progress, moment.params) },
    ),
  );

/** The hover text of each point: its label, or its coordinates. @param {string} name @param {Moment} moment
 */
function hoverTexts(name, moment) {
  const at = moment.at[name];
  const { labels, points } = cloudOf(moment.recipe, name);
  const known = labels ?? hoverTextsOf.get(at);
  if (known) return known;
  const n = points.shape[0];
  const d = at.length / n;
  const words = Array.from(
    { length: n },
    (_, i) =>
      `point ${i}<br>(${Array.from(at.subarray(i * d, (i + 1) * d), (x) => x.toFixed(2)).join(", ")})`,
  );
  hoverTextsOf.set(at, words);
  return words;
}
