// @ts-check
/** The `Giver` of a guest figure in a Dash application (normscape/scene.js): fetches it from the routes of
 * components/publish/component.py. */

import { Figure } from "./figure.mjs";
import { h } from "../dom.mjs";

const NO_ANSWER_TEXT = "The server does not answer. Reload the page to try again.";
const NO_ROUTES_TEXT =
  "This server has no scenes: import normscape.Scene where the application is made, " +
  "or call normscape.register(app).";

/**
 * A figure in an element of a Dash application, whose data comes from the server.
 * @param {HTMLElement} host @param {URL} base the address of the routes @param {(news:
 * import("./binding.mjs").State) => void} tell
 */
export function figure(host, base, tell) {
  return new Figure(
    host,
    {
      styles: () => styles(base),
      figure: (slug, search, signal) => ask(base, slug, search, signal),
      dress: (root) => dress(root, base),
      scheme,
    },
    tell,
  );
}

/** The style sheet for the shadow tree, loaded from the server. @param {URL} base */
function styles(base) {
  const sheet = h("link", { rel: "stylesheet", href: new URL("component.css", base).href });
  return {
    sheet,
    there: new Promise((go) => {
      sheet.onload = sheet.onerror = go;
    }),
  };
}

/**
 * Request the HTML of a figure from the server, or its error message.
 * @param {URL} base @param {string} slug @param {URLSearchParams} search @param {AbortSignal} signal
 */
async function ask(base, slug, search, signal) {
  const reply = await fetch(new URL(`figure/${encodeURIComponent(slug)}?${search}`, base), { signal }).catch(
    () => null,
  );
  const text = await reply?.text().catch(() => "");
  if (!reply || !text) return { refused: NO_ANSWER_TEXT };
  if (!reply.ok) return { refused: reason(text) };
  // not ours: Dash answers every path with a page
  return text.includes("data-slug=") ? { html: text } : { refused: NO_ROUTES_TEXT };
}

/** Make the element's relative addresses absolute; returns that of the drawing library.
 * @param {HTMLElement} root @param {URL} base */
function dress(root, base) {
  for (const name of ["recipe", "still", "plotly"])
    root.dataset[name] = new URL(root.dataset[name] ?? "", base).href;
  return String(root.dataset.plotly);
}

/** The server's error message. @param {string} text the body of a response: JSON, if it is our server's */
function reason(text) {
  try {
    return JSON.parse(text).error ?? NO_ANSWER_TEXT;
  } catch {
    return NO_ROUTES_TEXT;
  }
}

/** The theme of the page: its colour scheme. @param {HTMLElement} host */
function scheme({ parentElement }) {
  const page = getComputedStyle(/** @type {HTMLElement} */ (parentElement)).colorScheme.split(" ");
  return page.includes("dark") &&
    (!page.includes("light") || matchMedia("(prefers-color-scheme: dark)").matches)
    ? "dark"
    : "light";
}
