// @ts-check
/** Create figures in a Dash application, for the component in normscape/scene.js. The figure's `Giver`
 * (figure.mjs) fetches HTML, styles and recipes from the routes of the server
 * (components/publish/component.py). */

import { Figure } from "./figure.mjs";
import { h } from "../dom.mjs";
import { errorText } from "../player/source.mjs";
/** @import { State } from "./binding.mjs" */

const RELOAD_TEXT = "Reload the page to try again.";
const NO_ANSWER_TEXT = `The server does not answer. ${RELOAD_TEXT}`;
const NO_ROUTES_TEXT =
  "This server has no scenes: import normscape.Scene where the application is made, " +
  "or call normscape.register(app).";

/**
 * Create a `Figure` in an element of a Dash application, and return it. The figure's data comes from the
 * server. @param {HTMLElement} host the element @param {URL} base the address of the server's routes @param
 * {(news: State) => void} tell called with the properties that the reader has changed
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

/** Create the `<link>` element that loads the server's style sheet into the figure's shadow tree (`sheet`),
 * and a promise (`there`). The promise resolves when the style sheet has been loaded, or could not be loaded.
 * @param {URL} base the address of the server's routes */
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
 * Request the HTML of a figure from the server. Returns {html} or, also after `signal` or without a network,
 * {refused}, an error message.
 * @param {URL} base the address of the server's routes @param {string} slug the name of the scene
 * @param {URLSearchParams} search the query, with the figure's state
 * @param {AbortSignal} signal
 */
async function ask(base, slug, search, signal) {
  const reply = await fetch(new URL(`figure/${encodeURIComponent(slug)}?${search}`, base), { signal }).catch(
    () => null,
  );
  const text = await reply?.text().catch(() => "");
  if (reply && !reply.ok) return { refused: reason(text ?? "", reply.status) };
  if (!text) return { refused: NO_ANSWER_TEXT };
  // to an unknown path Dash answers with its own page, which contains no figure
  return text.includes("data-slug=") ? { html: text } : { refused: NO_ROUTES_TEXT };
}

/** Make the relative addresses in an element's data attributes absolute, with `base` as their base. Returns
 * the address of Plotly's script. @param {HTMLElement} root @param {URL} base */
function dress(root, base) {
  for (const name of ["recipe", "still", "plotly"])
    root.dataset[name] = new URL(root.dataset[name] ?? "", base).href;
  return String(root.dataset.plotly);
}

/** The error message for a response in which the server reports failure. If the body is JSON with an `error`,
 * it comes from our routes, and the `error` is the message. Otherwise the server has failed (status 500 or
 * more), or our routes are missing. @param {string} text the body of the response @param {number} status */
function reason(text, status) {
  const other = status < 500 ? NO_ROUTES_TEXT : `${errorText(status)}. ${RELOAD_TEXT}`;
  try {
    return JSON.parse(text)?.error ?? other;
  } catch {
    return other;
  }
}

/** The theme of the surrounding page, "dark" or "light", from the `color-scheme` of the element around the
 * figure. @param {HTMLElement} host the figure's element */
function scheme({ parentElement }) {
  const page = getComputedStyle(/** @type {HTMLElement} */ (parentElement)).colorScheme.split(" ");
  return page.includes("dark") &&
    (!page.includes("light") || matchMedia("(prefers-color-scheme: dark)").matches)
    ? "dark"
    : "light";
}
