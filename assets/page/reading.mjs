// @ts-check
/** The reader's settings in the browser or system, reduced motion and reduced data, and a promise for the
 * moment when a page has been painted. */

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const few = matchMedia("(prefers-reduced-data: reduce)");
const IDLE_TIMEOUT_MS = 2000; // milliseconds to wait for an idle browser, at most

/** Whether the reader prefers reduced motion. */
export const calmly = () => calm.matches;
/** Whether the reader wants to save data. */
export const sparing = () =>
  few.matches || Boolean(/** @type {{connection?: {saveData?: boolean}}} */ (navigator).connection?.saveData);

/** Wait until the page has loaded, its first picture is painted, and the browser is idle. */
export async function painted() {
  if (document.readyState !== "complete")
    await new Promise((go) => addEventListener("load", go, { once: true }));
  for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
  await new Promise((go) => (globalThis.requestIdleCallback ?? setTimeout)(go, { timeout: IDLE_TIMEOUT_MS }));
}
