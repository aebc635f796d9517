// @ts-check
/** Choices and sliders on the page: a few are visible at first, the others are folded away. */

import { choices, sliders } from "./controls.mjs";

/** Fill the containers of controls. The folded part opens when a control in it differs from its default,
 * because of a link or a stop of the tour. @param {import("./player.mjs").Player} player
 * @returns {(() => void)[]} a function to call when the state has changed */
export function controls(player) {
  const { recipe } = player;
  const more = /** @type {HTMLDetailsElement | null} */ (player.part("more"));
  const some = (/** @type {boolean} */ folded) => {
    const fits = (/** @type {{name: string, folded?: boolean}} */ each) =>
      player.offers(each.name) && Boolean(more && player.folds && each.folded) === folded;
    return { ...recipe, choices: recipe.choices.filter(fits), parameters: recipe.parameters.filter(fits) };
  };
  const put = (
    /** @type {HTMLElement | null} */ chosen,
    /** @type {HTMLElement | null} */ moved,
    /** @type {typeof recipe} */ own,
  ) => {
    if (chosen) choices(chosen, own, (name, value) => player.choose({ [name]: value }));
    const show = moved && sliders(moved, own, (name, value) => player.set(name, value));
    return show ? [() => show(player.params)] : [];
  };
  const shows = put(player.part("choices"), player.part("parameters"), some(false));
  if (!more) return shows;
  const own = some(true);
  const inside = (/** @type {string} */ name) =>
    /** @type {HTMLElement | null} */ (more.querySelector(`.${name}`));
  const folded = put(inside("choices"), inside("parameters"), own);
  more.hidden = !more.querySelector(".choice, .slider");
  return [...shows, ...folded, unfolds(more, player, own)];
}

/** Open the folded part when one of its controls differs from the default. @param {HTMLDetailsElement} more
 * @param {import("./player.mjs").Player} player @param {import("../engine/engine.mjs").Recipe} foldedPart
 * what is folded away */
function unfolds(more, player, foldedPart) {
  const chosen = foldedPart.choices
    .filter(({ name }) => String(player.choices[name]) !== String(player.usual[name]))
    .map(({ name }) => name);
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
