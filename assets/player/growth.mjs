// @ts-check
/** What a training adds to a player: a recipe of the same shape that grows while it is shown. What the hand
 * points at stands still. */

import { explain } from "./mount.mjs";

/**
 * @typedef {import("../painter/painter.mjs").Panel} Panel
 * @typedef {import("../engine/engine.mjs").Recipe} Recipe
 * @typedef {{state: import("./state.mjs").State, panels: () => Panel[], count: () => void, draw: () => void}}
 *   Shown what a player lends: its state; its panels, none before they are ready; to show the numbers of the
 *   recipe anew; to draw a frame
 */

/** What the legend of a view says, and of which marks. @param {Panel["view"]} view */
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

  /** From now on choices are offered to a training first, which says whether it takes them; null: no more.
   * @param {((changed: Record<string, string>) => boolean) | null} turn */
  follow(turn) {
    this.#turn = turn;
  }

  /** Whether the next news will have these choices. @param {Record<string, string>} changed */
  takes(changed) {
    return this.#shown.state.growing && Boolean(this.#turn?.(changed));
  }

  /** What there is by now. @param {Recipe} recipe */
  show(recipe) {
    const { state } = this.#shown;
    const panels = this.#shown.panels();
    if (
      this.#held ||
      !panels.length ||
      recipe.views.length !== panels.length ||
      !panels.every((panel, v) => panel.view.dims === recipe.views[v].dims)
    )
      return;
    const words = (/** @type {Recipe} */ { readouts, facts }) =>
      JSON.stringify([readouts.map((r) => r.label), facts]);
    const before = words(state.recipe);
    const axes = (/** @type {import("../engine/engine.mjs").View} */ { ranges, zooms, wider }) =>
      JSON.stringify([ranges, zooms, wider]);
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

  /** Plotly finds what a click hits among what has settled: the flat views do, and nothing grows until the
   * hand lets go. */
  hold() {
    if (!this.#shown.state.growing) return;
    this.#held = true;
    this.#settle(this.#shown.panels().filter((panel) => !panel.is3d));
  }

  release() {
    this.#held = false;
  }

  /** @param {Panel[]} few */
  #settle(few) {
    const frame = this.#shown.state.frame(true);
    const panels = this.#shown.panels();
    for (const panel of few) panel.settle(frame[panels.indexOf(panel)]);
  }
}
