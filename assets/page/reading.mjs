// @ts-check
/** What a reader has asked of all pages: calm, or few bytes. And when a page has been painted. */

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const few = matchMedia("(prefers-reduced-data: reduce)");
const IDLE = 2000; // milliseconds at most

export const calmly = () => calm.matches;
export const sparing = () =>
  few.matches || Boolean(/** @type {{connection?: {saveData?: boolean}}} */ (navigator).connection?.saveData);

/** Until the page is there, its first picture painted, and the browser has time. */
export async function painted() {
  if (document.readyState !== "complete")
    await new Promise((go) => addEventListener("load", go, { once: true }));
  for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
  await new Promise((go) => (globalThis.requestIdleCallback ?? setTimeout)(go, { timeout: IDLE }));
}
