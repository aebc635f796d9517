// @ts-check
/** Place elements at the letters of a formula: a bubble below one, a control over one. */

const WINDOW_MARGIN_PX = 4; // least distance in pixels between a bubble and the edge of the window

/** The rectangle relative to which an element is placed: the formula's, or on small screens its container's.
 * @param {HTMLElement} element */
const around = (element) => (element.offsetParent ?? document.body).getBoundingClientRect();

/** Place a bubble below a letter, completely inside the window. @param {HTMLElement} bubble
 * @param {Element} letter */
export function below(bubble, letter) {
  const at = letter.getBoundingClientRect();
  const half = bubble.offsetWidth / 2 + WINDOW_MARGIN_PX;
  const from = around(bubble);
  bubble.style.left = `${Math.max(half, Math.min(innerWidth - half, at.left + at.width / 2)) - from.left}px`;
  bubble.style.top = `${at.bottom - from.top}px`;
}

/** Place an element over a letter. @param {HTMLElement} element @param {Element} letter */
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
