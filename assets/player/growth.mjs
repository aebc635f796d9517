// @ts-check
/** Show a training in progress. The server sends recipes one after another. All have the same views, and each
 * contains the data of the training so far. A recipe replaces the previous one in the existing panels, but
 * not while the reader presses on a 2D figure. */

import { explain, fit } from "./mount.mjs";
/** @import { Recipe, View } from "../engine/engine.mjs" */
/** @import { Panel } from "../painter/painter.mjs" */
/** @import { FrameLoop } from "./frame_loop.mjs" */
/** @import { PageParts } from "./page_parts.mjs" */
/** @import { State } from "./state.mjs" */

/** The contents of a view's legend as JSON, for comparison with another view's legend. @param {Panel["view"]}
 * view */
const names = ({ layers }) =>
  JSON.stringify(
    layers.flatMap(({ title, color, role }, l) => (title || color?.title ? [[l, title, color, role]] : [])),
  );

export class Growth {
  #state;
  #parts;
  #frames;
  /** Whether the reader presses on a 2D figure: then no recipe is shown, so that the points keep their places
   * until the click is complete. */
  held = false;
  /** @type {((changed: Record<string, string>) => boolean) | null} */ #interceptor = null;

  /** @param {State} state @param {PageParts} parts @param {FrameLoop} frames */
  constructor(state, parts, frames) {
    this.#state = state;
    this.#parts = parts;
    this.#frames = frames;
  }

  /** Register a callback of the training in progress. Each change of choices is offered to it first; it
   * returns whether it handles the change. Null removes the callback. @param {((changed: Record<string,
   * string>) => boolean) | null} interceptor */
  intercept(interceptor) {
    this.#interceptor = interceptor;
  }

  /** Offer changed choices to the training in progress. Returns whether it handles the change; false if
   * no training is shown. @param {Record<string, string>} changed */
  takes(changed) {
    return this.#state.growing && Boolean(this.#interceptor?.(changed));
  }

  /** Show a recipe of the training so far. Does nothing while the reader presses on a 2D figure, before all
   * panels have been drawn, or if the panels cannot show the recipe's views (`fit` in mount.mjs).
   * @param {Recipe} recipe */
  show(recipe) {
    const { ready, panels } = this.#parts;
    if (this.held || !ready || !fit(panels, recipe)) return;
    const words = (/** @type {Recipe} */ { readouts, facts }) =>
      JSON.stringify([readouts.map((r) => r.label), facts]);
    const before = words(this.#state.recipe);
    const axes = (/** @type {View} */ { ranges, zooms, wider }) => JSON.stringify([ranges, zooms, wider]);
    const moved = panels.some((panel, v) => axes(panel.view) !== axes(recipe.views[v]));
    this.#state.grow(recipe);
    if (words(recipe) !== before) this.#parts.count();
    panels.forEach((panel, v) => {
      const other = names(panel.view) !== names(recipe.views[v]);
      panel.show(recipe.views[v]);
      if (other) explain(panel);
    });
    if (moved) {
      const frame = this.#state.frame(true);
      panels.forEach((panel, v) => panel.settle(frame[v]));
    }
    this.#frames.schedule();
  }
}
