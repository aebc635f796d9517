// @ts-check
/** Helpers for browser features: the reader's preferences (reduced motion, saving data), texts stored under
 * keys, and functions that wait for a drawing or for a time. */

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
const reducedData = matchMedia("(prefers-reduced-data: reduce)");
const IDLE_TIMEOUT_MS = 2000; // milliseconds to wait for an idle browser, at most

/** Whether the reader prefers reduced motion. */
export const prefersReducedMotion = () => reducedMotion.matches;
/** Whether the reader wants to save data. */
export const prefersReducedData = () =>
  reducedData.matches ||
  Boolean(/** @type {{connection?: {saveData?: boolean}}} */ (navigator).connection?.saveData);

/** Texts by key, kept until the page is left. They replace the browser's storage where it is unavailable, as
 * in sandboxes and some private windows. @type {Map<string, string | null>} */
const unstored = new Map();

/** The text stored under a key; null if there is none. @param {string} key
 * @param {"localStorage" | "sessionStorage"} [area] */
export function stored(key, area = "localStorage") {
  try {
    return globalThis[area].getItem(key);
  } catch {
    return unstored.get(key) ?? null;
  }
}

/** Store a text under a key, or remove it if the text is null.
 * @param {string} key @param {string | null} text @param {"localStorage" | "sessionStorage"} [area] */
export function store(key, text, area = "localStorage") {
  try {
    if (text === null) globalThis[area].removeItem(key);
    else globalThis[area].setItem(key, text);
  } catch {
    unstored.set(key, text);
  }
}

/** Wait until the page has loaded and its first picture is painted. Then wait until the browser is idle, but
 * no longer than IDLE_TIMEOUT_MS. */
export async function painted() {
  if (document.readyState !== "complete")
    await new Promise((go) => addEventListener("load", go, { once: true }));
  await drawingShown(IDLE_TIMEOUT_MS);
}

/** Wait until the last drawing is on the screen, and then until the browser is idle. @param {number} timeout
 * the longest time to wait for an idle browser, in milliseconds */
export async function drawingShown(timeout) {
  for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
  await new Promise((go) => (globalThis.requestIdleCallback ?? setTimeout)(go, { timeout }));
}

/** Wait for `ms` milliseconds, or until the signal aborts. @param {number} ms @param {AbortSignal} signal
 * @returns {Promise<void>} */
export const wait = (ms, signal) =>
  new Promise((go) => {
    if (signal.aborted) return go();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      go();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });

/** Sleep for `ms` milliseconds, or until the page's visibility changes, the page returns from the browser's
 * cache, the network is back, or the signal aborts. @param {number} ms @param {AbortSignal} [signal] @returns
 * {Promise<void>} */
export async function sleep(ms, signal) {
  const woken = new AbortController();
  for (const [where, what] of /** @type {[EventTarget, string][]} */ ([
    [window, "online"],
    [window, "pageshow"],
    [document, "visibilitychange"],
  ])) {
    where.addEventListener(what, () => woken.abort(), { signal: woken.signal });
  }
  await wait(ms, signal ? AbortSignal.any([signal, woken.signal]) : woken.signal);
  woken.abort();
}
