// @ts-check
/** Detect pinches: two fingers on one element that move apart or towards each other. */

/** Watch pinches of an element. Once two fingers touch the element, movements of fingers are kept from Plotly
 * until all are lifted, because Plotly would turn its figure. Where the page is zoomed in, a pinch is left to
 * the browser, so that the page can be zoomed out again. @param {HTMLElement} element
 * @param {AbortSignal} signal ends the watch @param {(apart: number) => void} zoom called when one of two
 * fingers moves, with the distance of the two fingers divided by their distance before the movement */
export function watchPinch(element, signal, zoom) {
  let pinching = false;
  let zoomsPage = false;
  let last = 0; // the distance of two fingers, in pixels; 0: unknown
  const touched = (/** @type {TouchEvent} */ event) => {
    const fingers = [...event.touches].filter(({ target }) => element.contains(/** @type {Node} */ (target)));
    if (event.type === "touchstart") {
      last = 0;
      pinching = fingers.length > 1;
      zoomsPage = (visualViewport?.scale ?? 1) > 1;
    }
    if (!pinching) return;
    event.stopPropagation();
    if (zoomsPage) return;
    if (event.cancelable) event.preventDefault();
    if (fingers.length !== 2) return;
    const [one, other] = fingers;
    const now = Math.max(1, Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY));
    if (last) zoom(now / last);
    last = now;
  };
  const lifted = () => (last = 0);
  const options = { signal, passive: false, capture: true };
  for (const kind of ["touchstart", "touchmove"])
    element.addEventListener(kind, /** @type {EventListener} */ (touched), options);
  for (const kind of ["touchend", "touchcancel"]) element.addEventListener(kind, lifted, options);
}
