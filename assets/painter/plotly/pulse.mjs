// @ts-check
/**
 * Stop the render loop of a 3D figure at rest. Plotly's loop checks in every animation frame whether there is
 * something new to draw, for as long as the figure exists. Here it runs only for a short time after each
 * event that may change the picture.
 *
 * @typedef {(time: number) => void} Look Plotly's callback for an animation frame, which looks for changes
 */

const SETTLE_MS = 100; // how long the loop runs after an event: the camera comes to rest in this time
const POINTER_EVENTS =
  "mousedown mousemove mouseup mouseenter mouseleave wheel touchstart touchmove touchend".split(" ");
const PLOTLY_EVENTS = ["plotly_afterplot", "plotly_relayout", "plotly_relayouting"];

/** Run `build`, by which Plotly builds a figure, and catch the animation frame callback of its render loop,
 * so that the loop does not start. @template T @param {() => T} build @returns {{built: T, look: Look |
 * null}} the result of `build`, and the callback; null if it was not found */
export function caught(build) {
  /** @type {Look | null} */ let look = null;
  const built = instead((call) => /\._stopped\b/.test(String(call)) && Boolean((look = call)), build);
  return { built, look };
}

/** From now on, run the figure's render loop for SETTLE_MS after each event that may change the picture.
 * @param {import("../../globals.mjs").Plotly} gd @param {Look} look the callback that `caught` returned
 * @param {AbortSignal} signal aborts when the figure is closed */
export function pulse(gd, look, signal) {
  let until = 0;
  let looking = false;
  const next = () => {
    const now = performance.now();
    instead(
      (call) => call === look,
      () => look(now),
    );
    looking = !signal.aborted && now < until;
    if (looking) requestAnimationFrame(next);
  };
  const wake = () => {
    until = performance.now() + SETTLE_MS;
    if (!looking) requestAnimationFrame(next);
    looking = true;
  };
  for (const name of POINTER_EVENTS)
    gd.addEventListener(name, wake, { capture: true, passive: true, signal });
  for (const name of PLOTLY_EVENTS) gd.on(name, wake);
  addEventListener("resize", wake, { signal });
  wake();
}

/** Run a function, and drop some of the callbacks that it gives to `requestAnimationFrame`. @template T
 * @param {(call: Look) => boolean} keep whether a callback is kept from the browser @param {() => T} act
 * @returns {T} the function's result */
function instead(keep, act) {
  const { requestAnimationFrame: own } = window;
  window.requestAnimationFrame = (call) => (keep(call) ? 0 : own.call(window, call));
  try {
    return act();
  } finally {
    window.requestAnimationFrame = own;
  }
}
