// @ts-check
/** Passages: paragraphs of a scene's text that belong to stages. A passage is highlighted while one of its
 * stages is shown, and a click on it moves the figure to the next of its stages. Between two stages the later
 * one counts as shown. So half way to stage 1, stage 1 is shown, and a click on a passage for stages 1 and 2
 * leads to stage 2. */

import { h, plainLabel } from "../dom.mjs";
/** @import { Player } from "./player.mjs" */

/** The index of the stage that counts as shown at a position between stages: the next stage. Up to 0.02 after
 * a stage it is still that stage. @param {number} progress the position, in stages */
export const stageShownAt = (progress) => Math.ceil(progress - 0.02);

/** Parse the list of stages that a paragraph is about, and return their indices. `words` has names or indices
 * of stages, separated by " | "; a name without its final number means all stages of that name ("Linear"
 * means "Linear 1", "Linear 2" …). Words that name no stage are ignored. @param {string} words
 * @param {string[]} stages the names of all stages */
export function stagesNamed(words, stages) {
  const asked = words.split(" | ");
  /** The words that name stage k: its name, its name without a final number, and its index.
   * @param {string} name @param {number} k */
  const namesOf = (name, k) => [name, name.replace(/(\p{L}) ?\d+$/u, "$1"), String(k)];
  return stages.flatMap((name, k) => (namesOf(name, k).some((each) => asked.includes(each)) ? [k] : []));
}

/** The first of the given stages that comes after the stage `now`; if there is none, the first of them, as in
 * a loop. All are indices. @param {number[]} stages in ascending order @param {number} now */
export const after = (stages, now) => stages.find((k) => k > now) ?? stages[0];

/** The label of a passage's button, which says what a click does: "Stage 1: centre", or for several stages
 * "Next of stages 2, 3: sphere, gain". @param {number[]} litStages the passage's stages @param {string[]}
 * stages the names of all stages */
export function buttonLabel(litStages, stages) {
  const names = litStages.map((k) => plainLabel(stages[k])).join(", ");
  return `${litStages.length > 1 ? "Next of stages" : "Stage"} ${litStages.join(", ")}: ${names}`;
}

/**
 * Connect the passages of a text with the stages that they name: each gets a button and a click listener.
 * @param {HTMLElement} part the text's element @param {Player} player @returns {() => void} a function to
 * call after a change of the player's state: it highlights the present passages
 */
export function passages(part, player) {
  const { stages } = player.recipe;
  const all = /** @type {HTMLElement[]} */ ([...part.querySelectorAll(".passage")]).map((element) => {
    const litStages = stagesNamed(element.dataset.stages ?? "", stages);
    const go = () => player.goTo(after(litStages, stageShownAt(player.progress)));
    const button = h(
      "button",
      {
        type: "button",
        className: "to",
        "aria-label": buttonLabel(litStages, stages),
      },
      String(litStages[0]),
    );
    element.querySelector(":scope > .to")?.remove();
    if (litStages.length) element.prepend(button);
    element.onclick = litStages.length
      ? (event) => {
          if (!notForPassage(/** @type {Element} */ (event.target))) go();
        }
      : null;
    return { element, button, litStages };
  });
  let shown = -1;
  return () => {
    const now = stageShownAt(player.progress);
    if (now === shown) return;
    shown = now;
    for (const { element, button, litStages } of all) {
      element.classList.toggle("lit", litStages.includes(now));
      button.setAttribute("aria-current", litStages.includes(now) ? "step" : "false");
    }
  };
}

/** Whether a click on a passage has another purpose: the reader clicks a link, or has just selected text. A
 * click on the passage's button is always meant for the passage. @param {Element} target what is clicked */
const notForPassage = (target) =>
  Boolean(target.closest("a")) || (!target.closest("button") && getSelection()?.isCollapsed === false);
