// @ts-check
/** Load Dash on a page that was served as static HTML: its scripts come when the figure is alive and the
 * training panel is open, and Dash's tree replaces the static one. Python lists them
 * (components/pages/explorer.py). */

import { h } from "../dom.mjs";

const FAILED_TEXT = "This part of the page did not load. Reload the page to try again.";

/** Load a script. Several run in the order in which they were requested. @param {string} src
 * @returns {Promise<void>} */
const load = (src) =>
  new Promise((done, fail) =>
    document.head.append(h("script", { src, async: false, onload: () => done(), onerror: fail })),
  );

/**
 * Wait until Dash has rendered something in an element.
 * @param {HTMLElement} place @returns {Promise<void>} resolves when Dash has rendered something there
 */
const filled = (place) =>
  new Promise((done) => {
    new MutationObserver((_, watch) => {
      if (!place.querySelector("[id]") || place.querySelector("._dash-loading")) return;
      watch.disconnect();
      done();
    }).observe(place, { childList: true, subtree: true });
  });

async function show() {
  const place = /** @type {HTMLElement} */ (document.getElementById("react-entry-point"));
  const until = /** @type {HTMLElement} */ (document.querySelector(".until"));
  const sources = document.getElementById("dash-scripts")?.textContent;
  // from now on Dash manages these
  for (const named of until.querySelectorAll("[id]")) named.removeAttribute("id");
  const shown = filled(place);
  try {
    await Promise.all(JSON.parse(sources ?? "[]").map(load));
  } catch {
    until.replaceWith(h("p", { role: "alert" }, FAILED_TEXT));
    return;
  }
  new /** @type {{DashRenderer: new () => unknown}} */ (/** @type {unknown} */ (window)).DashRenderer();
  await shown;
  until.remove();
  place.hidden = false;
}

document.addEventListener(
  "normscape:ready",
  () => {
    const panel = /** @type {HTMLDetailsElement} */ (document.querySelector(".training"));
    if (panel.open) show();
    else panel.addEventListener("toggle", show, { once: true });
  },
  { once: true, capture: true },
); // `toggle` events do not bubble
