// @ts-check
/** Show a training in progress. The server sends one recipe after the other, with the same views and longer
 * data. Each recipe replaces the previous one in the existing panels, but not while the reader presses on a
 * 2D figure. */

import { explain, fit } from "./mount.mjs";
/** @import { Recipe, View } from "../engine/engine.mjs" */
/** @import { Panel } from "../painter/painter.mjs" */
/** @import { State } from "./state.mjs" */

/**
 * @typedef {{state: State, panels: () => Panel[], count: () => void, draw: () => void}} Shown the parts of
 *   the player that are used here: its state; its panels ([] until they are ready); count, which rebuilds the
 *   part of the page for numbers; and draw, which requests a frame
 */

/** The contents of a view's legend as JSON, for comparison with another view's legend. @param {Panel["view"]}
 * view */
const names = ({ layers }) =>
  JSON.stringify(
    layers.flatMap(({ title, color, role }, l) => (title || color?.title ? [[l, title, color, role]] : [])),
  );

export class Growth {
  #shown;
  #held = false;
  /** @type {((changed: Record<string, string>) => boolean) | null} */ #turn = null;

  /** @param {Shown} shown */
  constructor(shown) {
    this.#shown = shown;
  }

  /** Register a callback of the training in progress: it gets each change of choices before anyone else, and
   * returns whether the training's next recipe will have it. Null removes the callback. @param {((changed:
   * Record<string, string>) => boolean) | null} turn */
  follow(turn) {
    this.#turn = turn;
  }

  /** Offer changed choices to the training in progress. Returns whether the training's next recipe will have
   * them; false if no training is shown. @param {Record<string, string>} changed */
  takes(changed) {
    return this.#shown.state.growing && Boolean(this.#turn?.(changed));
  }

  /** Show a recipe of the training so far. Does nothing while the reader presses on a 2D figure, or if the
   * number or the dimensions of the recipe's views differ from those of the panels. @param {Recipe} recipe */
  show(recipe) {
    const { state } = this.#shown;
    const panels = this.#shown.panels();
    if (this.#held || !panels.length || !fit(panels, recipe)) return;
    const words = (/** @type {Recipe} */ { readouts, facts }) =>
      JSON.stringify([readouts.map((r) => r.label), facts]);
    const before = words(state.recipe);
    const axes = (/** @type {View} */ { ranges, zooms, wider }) => JSON.stringify([ranges, zooms, wider]);
    const moved = panels.some((panel, v) => axes(panel.view) !== axes(recipe.views[v]));
    state.grow(recipe);
    if (words(recipe) !== before) this.#shown.count();
    panels.forEach((panel, v) => {
      const other = names(panel.view) !== names(recipe.views[v]);
      panel.show(recipe.views[v]);
      if (other) explain(panel);
    });
    if (moved) this.#settle(panels);
    this.#shown.draw();
  }

  /** Called when the reader presses on a 2D figure. Lets the 2D views settle, because Plotly knows the
   * positions of points only in settled figures; from now on new recipes are ignored, until `release`. */
  hold() {
    if (!this.#shown.state.growing) return;
    this.#held = true;
    this.#settle(this.#shown.panels().filter((panel) => !panel.is3d));
  }

  /** Called when the reader no longer presses: new recipes are shown again. */
  release() {
    this.#held = false;
  }

  /** Let some panels settle: Plotly draws them in the present state. @param {Panel[]} few */
  #settle(few) {
    const frame = this.#shown.state.frame(true);
    const panels = this.#shown.panels();
    for (const panel of few) panel.settle(frame[panels.indexOf(panel)]);
  }
}
