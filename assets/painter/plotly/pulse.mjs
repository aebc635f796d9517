// @ts-check
/**
 * Stop the render loop of a 3D figure at rest. Plotly's loop checks in every animation frame whether there is
 * something new to draw, for as long as the figure exists. Here it runs only for a short time after each
 * event that may change the picture.
 */

const SETTLE_MS = 100; // how long the loop runs after an event: the camera comes to rest in this time
const POINTER_EVENTS =
  "mousedown mousemove mouseup mouseenter mouseleave wheel touchstart touchmove touchend".split(" ");
const PLOTLY_EVENTS = ["plotly_afterplot", "plotly_relayout", "plotly_relayouting"];

/** Run `build`, by which Plotly builds a figure, and catch the animation frame callback of its render loop,
 * so that the loop does not start. @template T @param {() => T} build @returns {{built: T, loop:
 * FrameRequestCallback | null}} the result of `build`, and the callback; null if it was not found */
export function captureLoop(build) {
  /** @type {FrameRequestCallback | null} */ let loop = null;
  const built = withholding((call) => /\._stopped\b/.test(String(call)) && Boolean((loop = call)), build);
  return { built, loop };
}

/** Run the figure's render loop for SETTLE_MS after each event that may change the picture, from now on until
 * the figure is closed. @param {import("../../globals.mjs").Plotly} gd @param {FrameRequestCallback} loop the
 * callback that `captureLoop` returned @param {AbortSignal} signal aborts when the figure is closed */
export function pulse(gd, loop, signal) {
  let until = 0;
  let running = false;
  const next = () => {
    const now = performance.now();
    withholding(
      (call) => call === loop,
      () => loop(now),
    );
    running = !signal.aborted && now < until;
    if (running) requestAnimationFrame(next);
  };
  const wake = () => {
    until = performance.now() + SETTLE_MS;
    if (!running) requestAnimationFrame(next);
    running = true;
  };
  for (const name of POINTER_EVENTS)
    gd.addEventListener(name, wake, { capture: true, passive: true, signal });
  for (const name of PLOTLY_EVENTS) gd.on(name, wake);
  addEventListener("resize", wake, { signal });
  wake();
}

/** Run the function `act`, and meanwhile drop some callbacks that it passes to `requestAnimationFrame`: those
 * for which `drops` returns true are never called. @template T
 * @param {(call: FrameRequestCallback) => boolean} drops whether to drop a callback @param {() => T} act
 * @returns {T} the result of `act` */
function withholding(drops, act) {
  const { requestAnimationFrame: own } = window;
  window.requestAnimationFrame = (call) => (drops(call) ? 0 : own.call(window, call));
  try {
    return act();
  } finally {
    window.requestAnimationFrame = own;
  }
}
