// @ts-check
/** Show the meaning of a symbol of a formula in a bubble below the symbol, on hover, tap or keyboard focus.
 */

import { h } from "../dom.mjs";
import { below, lie } from "../letters.mjs";

/**
 * Make the symbols of a formula show their meanings, each in a bubble below the symbol. Symbols without a
 * meaning show none.
 * @param {HTMLElement} formula @param {Record<string, string>} meanings the text of the bubble, by symbol
 */
export function gloss(formula, meanings) {
  const note = h("p", { className: "dragged gloss", role: "status", hidden: true });
  const letters = () =>
    Array.from(formula.querySelectorAll("mi, mn")).filter((letter) => letter.textContent in meanings);
  const hide = () => {
    note.hidden = true;
  };
  const show = (/** @type {Element} */ letter) => {
    note.textContent = meanings[letter.textContent];
    note.hidden = false;
    below(note, letter);
  };
  const point = (/** @type {Event} */ { target }) => {
    const letter = letters().find((each) => each === target);
    if (letter) show(letter);
    else hide();
  };
  formula.addEventListener("pointerover", point);
  document.addEventListener("click", point); // a tap elsewhere closes the bubble
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") hide();
  });
  formula.addEventListener("pointerleave", hide);
  // to keyboards and screen readers a formula is a single element, so each symbol gets an invisible button
  // over it
  const buttons = Object.entries(meanings).map(([symbol, meaning]) => {
    const button = h("button", { type: "button", className: "letter", "aria-label": meaning });
    button.addEventListener("focus", () => {
      const letter = letters().find((each) => each.textContent === symbol);
      if (!letter) return;
      lie(button, letter);
      show(letter);
    });
    button.addEventListener("blur", () => {
      hide();
      button.removeAttribute("style");
    });
    return button;
  });
  formula.after(...buttons, note);
  const explain = () => letters().forEach((letter) => letter.classList.add("symbol"));
  explain();
  // the player rewrites the formula whenever its numbers change
  new MutationObserver(explain).observe(formula, { childList: true });
}
