// @ts-check
/**
 * Show a text below the figure, in which each letter is the label of a point. The letters of points that
 * the text's readout selects are marked, and the letter of the followed (selected) point is highlighted.
 *
 * @typedef {LettersReadout} Letters
 * @typedef {CountReadout} Count
 */

import { shownIndices } from "../engine/only.mjs";
import { cloudOf } from "../engine/engine.mjs";
import { h } from "../dom.mjs";
/** @import { Moment, Recipe } from "../engine/engine.mjs" */
/** @import { CountReadout, LettersReadout } from "../engine/recipe.d.ts" */
/** @import { Player } from "./player.mjs" */

/** The indices of the points that a readout marks or counts. The readout looks at the points at its `stage`,
 * or at the points of the drawn frame if it has no stage. @param {Letters | Count} r the readout
 * @param {Moment} moment @returns {number[]} */
export function marked(r, moment) {
  const at = r.stage === null ? moment.at : { ...moment.at, [r.cloud]: moment.stages[r.cloud][r.stage] };
  return shownIndices(r, { ...moment, at });
}

/** Add the texts of a recipe below the figure. A click on a letter follows (selects) its point; the arrow
 * keys go to the previous and next letter. @param {HTMLElement} stage the element around the figure @param
 * {Recipe} recipe @param {Player} player @returns {(() => void)[]} functions to call in each frame: they
 * update the texts */
export function letters(stage, recipe, player) {
  for (const old of stage.querySelectorAll(":scope > .letters")) old.remove();
  const all = recipe.readouts.filter((r) => r.kind === "letters").map((r) => text(r, recipe, player));
  stage.querySelector(":scope > .views")?.after(...all.map(({ element }) => element));
  return all.map(({ show }) => show);
}

/**
 * Create the element of one text, and a function `show` that updates it to the player's state.
 * @param {Letters} r the readout that the text shows @param {Recipe} recipe @param {Player} player
 */
function text(r, recipe, player) {
  const labels = /** @type {string[]} */ (cloudOf(recipe, r.cloud).labels);
  const id = (/** @type {number} */ i) => `letter-${r.cloud}-${i}`;
  const letters = labels.map((label, i) =>
    h("span", { role: "option", id: id(i), className: label.trim() ? "" : "blank" }, label),
  );
  const last = letters.length - 1;
  const targetOf = /** @type {Record<string, (i: number) => number>} */ ({
    ArrowLeft: (i) => i - 1,
    ArrowRight: (i) => i + 1,
    ArrowUp: (i) => i - 1,
    ArrowDown: (i) => i + 1,
    Home: () => 0,
    End: () => last,
  });
  const box = h(
    "div",
    {
      role: "listbox",
      tabIndex: 0,
      className: "text-of",
      "aria-label": r.label,
      onclick: (/** @type {MouseEvent} */ event) => {
        const i = letters.indexOf(/** @type {HTMLSpanElement} */ (event.target));
        if (i >= 0) player.follow(i);
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const to = targetOf[event.key]?.(Math.min(player.followed, last));
        if (to === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        player.follow(Math.max(0, Math.min(last, to)));
      },
    },
    ...letters,
  );
  const mark = marking(letters, r, player);
  let followed = -1;
  return {
    element: h("div", { className: "letters" }, box, h("span", { className: "key" }, `marked: ${r.label}`)),
    show() {
      mark();
      const now = Math.min(player.followed, last);
      if (now === followed) return;
      letters[followed]?.removeAttribute("aria-selected");
      letters[(followed = now)]?.setAttribute("aria-selected", "true");
      box.setAttribute("aria-activedescendant", id(now));
    },
  };
}

/** Return a function that marks the letters of the points that a readout selects. It does nothing if the
 * cloud's points have not changed since its last call. @param {HTMLElement[]} letters the element of each
 * letter @param {Letters} r the readout @param {Player} player */
function marking(letters, r, player) {
  /** @type {(Float64Array | Float64Array[])[]} */ let lastInputs = [];
  let lastMarks = /** @type {string | null} */ (null);
  return () => {
    const inputs = [player.moment.at[r.cloud], player.moment.stages[r.cloud]];
    if (inputs.every((input, i) => input === lastInputs[i])) return;
    lastInputs = inputs;
    const marks = new Set(marked(r, player.moment));
    const names = [...marks].join();
    if (names === lastMarks) return;
    lastMarks = names;
    letters.forEach((span, i) => {
      span.classList.toggle("marked", marks.has(i));
      const letter = span.textContent.trim() || "space";
      span.ariaLabel = marks.has(i) ? `${letter}, ${r.label}` : letter;
    });
  };
}
