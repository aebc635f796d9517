// @ts-check
/** Elements that are placed at the letters of a formula: a bubble below one, a control over one. */

const EDGE = 4; // pixels between a bubble and the end of the window

/** What an element is placed in: the formula, or on small screens what that stands in.
 * @param {HTMLElement} element */
const around = (element) => (element.offsetParent ?? document.body).getBoundingClientRect();

/** Puts a bubble below a letter, whole in the window. @param {HTMLElement} bubble @param {Element} letter */
export function below(bubble, letter) {
  const at = letter.getBoundingClientRect();
  const half = bubble.offsetWidth / 2 + EDGE;
  const from = around(bubble);
  bubble.style.left = `${Math.max(half, Math.min(innerWidth - half, at.left + at.width / 2)) - from.left}px`;
  bubble.style.top = `${at.bottom - from.top}px`;
}

/** Puts an element over a letter. @param {HTMLElement} element @param {Element} letter */
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
