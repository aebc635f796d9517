// @ts-check
/**
 * A 3D figure that is at rest costs nothing. Plotly looks at every frame, for ever, whether there is
 * something new to draw; here it looks only for a while after something has happened that it may have to
 * draw.
 *
 * @typedef {(time: number) => void} Look
 */

const WHILE = 100; // milliseconds: in which a camera comes to rest
const EVENTS = "mousedown mousemove mouseup mouseenter mouseleave wheel touchstart touchmove touchend".split(
  " ",
);
const OWN = ["plotly_afterplot", "plotly_relayout", "plotly_relayouting"];

/** Build a figure that looks once, and how it does. @template T @param {() => T} build
 * @returns {{built: T, look: Look | null}} */
export function caught(build) {
  /** @type {Look | null} */ let look = null;
  const built = instead((call) => /\._stopped\b/.test(String(call)) && Boolean((look = call)), build);
  return { built, look };
}

/** Let a figure look again: from now on, after what happens to it.
 * @param {import("../../globals.mjs").Plotly} gd @param {Look} look @param {AbortSignal} signal of its end */
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
    until = performance.now() + WHILE;
    if (!looking) requestAnimationFrame(next);
    looking = true;
  };
  for (const name of EVENTS) gd.addEventListener(name, wake, { capture: true, passive: true, signal });
  for (const name of OWN) gd.on(name, wake);
  addEventListener("resize", wake, { signal });
  wake();
}

/** Do something, and keep some of what it asks the next frame for. @template T
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
