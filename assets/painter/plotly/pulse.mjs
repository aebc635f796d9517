// @ts-check
/**
 * Stop the render loop of a 3D figure at rest. Plotly checks at every frame whether there is something new to
 * draw; here it checks only for a while after each event that may change the picture.
 *
 * @typedef {(time: number) => void} Look
 */

const SETTLE_MS = 100; // milliseconds in which a camera comes to rest
const POINTER_EVENTS =
  "mousedown mousemove mouseup mouseenter mouseleave wheel touchstart touchmove touchend".split(" ");
const PLOTLY_EVENTS = ["plotly_afterplot", "plotly_relayout", "plotly_relayouting"];

/** Build a figure while catching its render loop's animation frame callback. @template T
 * @param {() => T} build @returns {{built: T, look: Look | null}} */
export function caught(build) {
  /** @type {Look | null} */ let look = null;
  const built = instead((call) => /\._stopped\b/.test(String(call)) && Boolean((look = call)), build);
  return { built, look };
}

/** Run the figure's render loop for a while after each event. @param {import("../../globals.mjs").Plotly} gd
 * @param {Look} look @param {AbortSignal} signal aborts when the figure is closed */
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

/** Run a function while intercepting some of its requestAnimationFrame callbacks. @template T
 * @param {(call: Look) => boolean} keep @param {() => T} act @returns {T} */
function instead(keep, act) {
  const { requestAnimationFrame: own } = window;
  window.requestAnimationFrame = (call) => (keep(call) ? 0 : own.call(window, call));
  try {
    return act();
  } finally {
    window.requestAnimationFrame = own;
  }
}
