// @ts-check
/** Functions that place elements at the letters of a formula: a bubble with text below a letter, or a control
 * on top of it. */

const WINDOW_MARGIN_PX = 4; // minimum distance between a bubble and the left or right edge of the window

/** The rectangle of an element's offset parent or, if it has none, of the page's body; in window coordinates.
 * The browser counts `element.style.left` and `top` from the top left corner of this rectangle.
 * @param {HTMLElement} element */
const around = (element) => (element.offsetParent ?? document.body).getBoundingClientRect();

/** Place a bubble below a letter, moved sideways where it would cross the left or right edge of the window.
 * The bubble's own style must shift it to the left by half its width, so that `left` is its middle.
 * @param {HTMLElement} bubble @param {Element} letter */
export function below(bubble, letter) {
  const at = letter.getBoundingClientRect();
  const half = bubble.offsetWidth / 2 + WINDOW_MARGIN_PX;
  const from = around(bubble);
  bubble.style.left = `${Math.max(half, Math.min(innerWidth - half, at.left + at.width / 2)) - from.left}px`;
  bubble.style.top = `${at.bottom - from.top}px`;
}

/** Place an element on top of a letter, in the letter's size. @param {HTMLElement} element @param {Element}
 * letter */
export function lie(element, letter) {
  const at = letter.getBoundingClientRect();
  const from = around(element);
  Object.assign(element.style, {
    left: `${at.left - from.left}px`,
    top: `${at.top - from.top}px`,
    width: `${at.width}px`,
    height: `${at.height}px`,
  });
}
