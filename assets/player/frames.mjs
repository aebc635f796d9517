// @ts-check
/** Compute the contents of a frame: the points, opacity, colour values and hover texts of every mark of every
 * view. Pure. */

import { cloudOf, onlyOf } from "../engine/engine.mjs";
import { clickable, follows } from "../engine/hands.mjs";
import { opacityOf, pointsOf, valuesOf } from "../engine/shown.mjs";
import { zoomOf } from "../engine/perspective.mjs";
/** @import { Moment } from "../engine/engine.mjs" */
/** @import { Mark } from "../engine/recipe.d.ts" */
/** @import { Frame } from "../painter/painter.mjs" */

/** @type {WeakMap<Float64Array, string[]>} for the positions of a cloud's points, their hover texts */
const placesOf = new WeakMap();
/** @type {WeakMap<Mark, {all: string[], some: string[]}>} hover texts of all points of a mark's cloud, and of
 * those that the mark shows */
const chosenOf = new WeakMap();

/**
 * The frames of all views at a moment. @param {Moment} moment @param {boolean} rest whether the figure is at
 * rest; only frames at rest have hover texts @returns {Frame[]} one for each view
 */
export const framesOf = (moment, rest) =>
  moment.recipe.views.map((view) => {
    const zoom = zoomOf(view, moment.progress, moment.params);
    return Object.assign(
      view.layers.map((mark) => ({
        points: pointsOf(mark, moment),
        opacity: opacityOf(mark, moment.progress, zoom[0]),
        values: valuesOf(mark, moment),
        text: rest && hasHoverTexts(mark, moment) ? hoverTextsOf(mark, moment) : undefined,
      })),
      { zoom },
    );
  });

/** Whether a mark's points have hover texts: if a click on a point follows (selects) it, or if a click has
 * another effect and the points have labels. @param {Mark} mark @param {Moment} moment */
const hasHoverTexts = (mark, { recipe }) =>
  follows(mark) || (clickable(mark) && Boolean(cloudOf(recipe, mark.cloud).labels));

/** The hover texts of a mark's points: of the points that it shows, if its `only` is a fixed list; otherwise
 * of all points of its cloud. @param {Mark} mark @param {Moment} moment */
function hoverTextsOf(mark, moment) {
  const all = hoverTexts(mark.cloud, moment);
  const only = onlyOf(mark);
  if (!Array.isArray(only)) return all;
  const known = chosenOf.get(mark);
  if (known?.all === all) return known.some;
  const some = only.map((i) => all[i]);
  chosenOf.set(mark, { all, some });
  return some;
}

/** The hover text of each point of a cloud: the point's label or, without labels, its number and coordinates.
 * @param {string} name the cloud's name @param {Moment} moment */
function hoverTexts(name, moment) {
  const at = moment.at[name];
  const { labels, points } = cloudOf(moment.recipe, name);
  const known = labels ?? placesOf.get(at);
  if (known) return known;
  const n = points.shape[0];
  const d = at.length / n;
  const words = Array.from(
    { length: n },
    (_, i) =>
      `point ${i}<br>(${Array.from(at.subarray(i * d, (i + 1) * d), (x) => x.toFixed(2)).join(", ")})`,
  );
  placesOf.set(at, words);
  return words;
}
