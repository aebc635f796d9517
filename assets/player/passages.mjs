// @ts-check
/** Paragraphs of the text that name stages: highlighted while one of these is shown; a click goes there. */

import { h, plainLabel } from "../dom.mjs";

/** The stage towards which a progress moves, or at which it is. @param {number} progress */
export const towards = (progress) => Math.ceil(progress - 0.02);

/** The stages that a paragraph is about: by name, where a name without its final number means all of that
 * name ("Linear" means "Linear 1", "Linear 2" …); or by index. @param {string} words names or indices of
 * stages, separated by " | " @param {string[]} stages */
export function named(words, stages) {
  const asked = words.split(" | ");
  /** @param {string} name @param {number} k */
  const called = (name, k) => [name, name.replace(/(\p{L}) ?\d+$/u, "$1"), String(k)];
  return stages.flatMap((name, k) => (called(name, k).some((each) => asked.includes(each)) ? [k] : []));
}

/** The next of some stages; after the last, the first. @param {number[]} stages @param {number} now */
export const after = (stages, now) => stages.find((k) => k > now) ?? stages[0];

/**
 * Connect the paragraphs of a text with the stages that they name.
 * @param {HTMLElement} part a text @param {import("./player.mjs").Player} player @returns {() => void} a
 * function that shows the player's state
 */
export function passages(part, player) {
  const { stages } = player.recipe;
  const all = /** @type {HTMLElement[]} */ ([...part.querySelectorAll(".passage")]).map((element) => {
    const litStages = named(element.dataset.stages ?? "", stages);
    const go = () => player.goTo(after(litStages, towards(player.progress)));
    const button = h(
      "button",
      {
        type: "button",
        className: "to",
        "aria-label": `Stage ${litStages[0]}: ${litStages.map((k) => plainLabel(stages[k])).join(", ")}`,
      },
      String(litStages[0]),
    );
    element.querySelector(":scope > .to")?.remove();
    if (litStages.length) element.prepend(button);
    element.onclick = litStages.length
      ? (event) => {
          if (!elsewhere(/** @type {Element} */ (event.target))) go();
        }
      : null;
    return { element, button, own: litStages };
  });
  let shown = -1;
  return () => {
    const now = towards(player.progress);
    if (now === shown) return;
    shown = now;
    for (const { element, button, own } of all) {
      element.classList.toggle("lit", own.includes(now));
      button.setAttribute("aria-current", own.includes(now) ? "step" : "false");
    }
  };
}

/** Whether a click was meant for a link, or selects text. @param {Element} target */
const elsewhere = (target) => Boolean(target.closest("a")) || getSelection()?.isCollapsed === false;
