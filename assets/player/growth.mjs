// @ts-check
/** Show a training in progress. The server sends one recipe after the other, with the same views and longer
 * data; each replaces the one before without a new page. While the reader presses on a figure, nothing is
 * replaced. */

import { explain, fit } from "./mount.mjs";
/** @import { Recipe, View } from "../engine/engine.mjs" */
/** @import { Panel } from "../painter/painter.mjs" */
/** @import { State } from "./state.mjs" */

/**
 * @typedef {{state: State, panels: () => Panel[], count: () => void, draw: () => void}} Shown the parts of
 *   the player that are used here: its state; its panels ([] until they are ready); count, which rebuilds the
 *   part of the page for numbers; and draw, which requests a frame
 */

/** The contents of a view's legend as JSON, to compare it with another. @param {Panel["view"]} view */
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

  /** Offer changed choices to the training in progress, and return whether its next recipe will have them;
   * false without a training. @param {Record<string, string>} changed */
  takes(changed) {
    return this.#shown.state.growing && Boolean(this.#turn?.(changed));
  }

  /** Show the recipe of the training so far. Does nothing while the reader presses on a figure, or if the
   * recipe's views do not match the panels in number and dimensions. @param {Recipe} recipe */
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

  /** The reader presses on a figure: settle the 2D views, since Plotly knows the positions of points only in
   * settled figures, and ignore new recipes until `release`. */
  hold() {
    if (!this.#shown.state.growing) return;
    this.#held = true;
    this.#settle(this.#shown.panels().filter((panel) => !panel.is3d));
  }

  /** The reader no longer presses: show new recipes again. */
  release() {
    this.#held = false;
  }

  /** Let some panels settle in the present state: Plotly draws them. @param {Panel[]} few */
  #settle(few) {
    const frame = this.#shown.state.frame(true);
    const panels = this.#shown.panels();
    for (const panel of few) panel.settle(frame[panels.indexOf(panel)]);
  }
}
