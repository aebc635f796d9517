// @ts-check
/** Pinches: two fingers on one element that part or approach. */

/** Watch pinches of an element. No other listener gets the movements of the two fingers, nor those of the one
 * that stays longer: Plotly would turn its figure. @param {HTMLElement} element @param {AbortSignal} signal
 * ends the watch @param {() => (apart: number) => void} begin called when a pinch begins; the function that
 * it returns is called when a finger moves, with the distance of the fingers divided by their first distance
 */
export function watchPinch(element, signal, begin) {
  /** @type {{width: number, move: (apart: number) => void} | null} */ let pinch = null;
  const touched = (/** @type {TouchEvent} */ event) => {
    const [one, other] = event.targetTouches;
    if (!other && !pinch) return;
    event.stopPropagation();
    if (event.cancelable) event.preventDefault();
    if (!other) return;
    const width = Math.max(1, Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY));
    if (!pinch || event.type === "touchstart") pinch = { width, move: begin() };
    else pinch.move(width / pinch.width);
  };
  const lifted = (/** @type {TouchEvent} */ { targetTouches }) => {
    if (!targetTouches.length) pinch = null;
  };
  const options = { signal, passive: false, capture: true };
  element.addEventListener("touchstart", touched, options);
  element.addEventListener("touchmove", touched, options);
  element.addEventListener("touchend", lifted, options);
  element.addEventListener("touchcancel", lifted, options);
}
