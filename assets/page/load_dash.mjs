// @ts-check
/** Load Dash on a page that was served as static HTML. Only the training panel needs Dash, so Dash's scripts
 * are loaded only once the figure is interactive and the panel is open. Then Dash's element tree replaces the
 * static panel. Python lists the scripts (components/pages/explorer.py). */

import { h } from "../dom.mjs";

const RENDER_TIMEOUT_MS = 10_000; // how long Dash may take to render before an error message is shown
const FAILED_TEXT = "This part of the page did not load. Reload the page to try again.";

/** Load and run a script; returns a promise that resolves when it has run. Scripts run in the order of the
 * calls. The promise is rejected if loading fails. @param {string} src the script's address
 * @returns {Promise<void>} */
const load = (src) =>
  new Promise((done, fail) =>
    document.head.append(h("script", { src, async: false, onload: () => done(), onerror: fail })),
  );

/**
 * Wait until Dash has rendered its tree in an element.
 * @param {HTMLElement} place @returns {Promise<void>} resolves once an element inside `place` has an id and
 * Dash's loading text is gone
 */
const filled = (place) =>
  new Promise((done) => {
    new MutationObserver((_, watch) => {
      if (!place.querySelector("[id]") || place.querySelector("._dash-loading")) return;
      watch.disconnect();
      done();
    }).observe(place, { childList: true, subtree: true });
  });

/** Load Dash's scripts, start Dash, and remove the static panel once Dash has rendered its own. If a script
 * cannot be loaded, or Dash fails or renders nothing in time, an error message replaces the static panel. */
async function show() {
  const place = /** @type {HTMLElement} */ (document.getElementById("react-entry-point"));
  const until = /** @type {HTMLElement} */ (document.querySelector(".until"));
  const sources = document.getElementById("dash-scripts")?.textContent;
  // Dash will render elements with the same ids, and an id may occur only once in a page
  for (const named of until.querySelectorAll("[id]")) named.removeAttribute("id");
  const failed = h("p", { role: "alert" }, FAILED_TEXT);
  const shown = filled(place);
  let timer;
  try {
    await Promise.all(JSON.parse(sources ?? "[]").map(load));
    timer = window.setTimeout(() => until.replaceWith(failed), RENDER_TIMEOUT_MS);
    new /** @type {{DashRenderer: new () => unknown}} */ (/** @type {unknown} */ (window)).DashRenderer();
  } catch {
    until.replaceWith(failed);
    return;
  }
  await shown;
  clearTimeout(timer);
  failed.remove(); // if Dash has rendered late
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
  { once: true, capture: true }, // `capture`, because this event does not bubble
);
