// @ts-check
/** Show the page's controls in two parts: a few choices and sliders are visible at first; the others are
 * folded away in a `details` element. */

import { choices, sliders } from "./controls.mjs";
import { changes } from "./link.mjs";
/** @import { Recipe } from "../engine/engine.mjs" */
/** @import { Player } from "./player.mjs" */

/** Fill the visible and the folded part with the controls of the player's recipe. The folded part opens by
 * itself when a link, a stop of the tour or the reader sets one of its controls to a value other than the
 * default. @param {Player} player
 * @returns {(() => void)[]} functions to call when the state has changed */
export function controls(player) {
  const { recipe } = player;
  const more = /** @type {HTMLDetailsElement | null} */ (player.part("more"));
  const withControls = (/** @type {boolean} */ folded) => {
    const fits = (/** @type {{name: string, folded?: boolean}} */ control) =>
      player.offers(control.name) && Boolean(more && player.folds && control.folded) === folded;
    return { ...recipe, choices: recipe.choices.filter(fits), parameters: recipe.parameters.filter(fits) };
  };
  const fill = (
    /** @type {HTMLElement | null} */ choicesPart,
    /** @type {HTMLElement | null} */ slidersPart,
    /** @type {Recipe} */ partOfRecipe,
  ) => {
    if (choicesPart) choices(choicesPart, partOfRecipe, (name, value) => player.choose({ [name]: value }));
    const set = (/** @type {string} */ name, /** @type {number} */ value) => player.set(name, value);
    const show = slidersPart && sliders(slidersPart, partOfRecipe, set, (name) => player.remember(name));
    return show ? [() => show(player.params)] : [];
  };
  const shows = fill(player.part("choices"), player.part("parameters"), withControls(false));
  if (!more) return shows;
  const foldedPart = withControls(true);
  const inside = (/** @type {string} */ name) =>
    /** @type {HTMLElement | null} */ (more.querySelector(`.${name}`));
  shows.push(...fill(inside("choices"), inside("parameters"), foldedPart));
  more.hidden = !more.querySelector(".choice, .slider");
  return [...shows, unfolds(more, player, foldedPart)];
}

/** Return a function to call when the state has changed. It opens the folded part if one of the controls
 * there now has a value other than its default, and had the default at the previous call.
 * @param {HTMLDetailsElement} more the folded part @param {Player} player @param {Recipe} foldedPart the
 * recipe with only those choices and parameters that are folded away */
function unfolds(more, player, foldedPart) {
  const changed = changes(player.choices, player.usual);
  const chosen = foldedPart.choices.map(({ name }) => name).filter((name) => name in changed);
  /** @type {Record<string, number> | undefined} */ let known;
  return () => {
    if (player.params === known) return;
    known = player.params;
    const before = more.dataset.moved?.split(" ") ?? [];
    const now = [
      ...chosen,
      ...foldedPart.parameters
        .filter(({ name, value }) => player.params[name] !== value)
        .map(({ name }) => name),
    ];
    if (now.some((name) => !before.includes(name))) more.open = true;
    more.dataset.moved = now.join(" ");
  };
}
