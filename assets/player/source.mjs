// @ts-check
/**
 * Get recipes: from a server, from files beside the page, from the page itself, or from a function
 * (`supply`). In a page without a server, the scene's element contains a `script.recipes`. This is a JSON
 * object with an entry for each available set of choices: the key is the query of the choices that differ
 * from the defaults, the value is the recipe or its file's name. Instead of repeating parts of the default
 * recipe, a recipe's file refers to them.
 *
 * @typedef {{choices: Record<string, string>, recipe?: Recipe, refused?: string, parameter?: string, failed?:
 *   number, busy?: number, reason?: string}} Answer the answer to a request for the recipe for `choices`. If
 *   the choices are refused, `refused` is the error message, and `parameter` is the name of the wrong choice,
 *   if the server names one. If the server has failed, `failed` is its HTTP status, at least 500. If the
 *   server is still busy, `busy` is the number of milliseconds after which to ask again, and `reason` is the
 *   server's message. If no answer came, only `choices` is set
 */

import { wait } from "../browser.mjs";
import { changes } from "./link.mjs";
import { pause, retryAfter } from "./poll.mjs";
/** @import { Recipe } from "../engine/engine.mjs" */

// milliseconds to wait for an answer, with all retries; the page says earlier that it is waiting
const ANSWER_TIMEOUT_MS = 60_000;
const BUSY_STATUSES = [429, 503]; // HTTP statuses after which a request is repeated
// from this HTTP status on, the server has failed, or a proxy cannot reach it; that says nothing about the
// choices
const FAILED_STATUS = 500;
const NO_RECIPE_TEXT = "the server has no such recipe";
const NO_SERVER_TEXT = "this choice needs the server; a page without one has only some choices";

/** The functions that supply the recipes, by the scene's element (see `supply`). @type {WeakMap<HTMLElement,
 * (query: string, signal: AbortSignal) => Promise<Omit<Answer, "choices">>>} */
const others = new WeakMap();

/** Register the function from which the recipes of the scene in the element `root` are taken from now on.
 * @param {HTMLElement} root @param {(query: string, signal: AbortSignal) => Promise<Omit<Answer, "choices">>}
 * give returns the recipe for a query of the choices that differ from the defaults */
export function supply(root, give) {
  others.set(root, give);
}

/** Get the recipe for some choices, or the reason why there is none (see `Answer`). @param {HTMLElement} root
 * @param {Record<string, string>} choices @param {Record<string, string>} usual the defaults
 * @param {AbortSignal} signal @returns {Promise<Answer>} */
export async function ask(root, choices, usual, signal) {
  const query = new URLSearchParams(changes(choices, usual)).toString();
  const give = others.get(root);
  const here = root.querySelector(":scope > script.recipes");
  if (give) return { choices, ...(await give(query, signal)) };
  if (!here) return get(`${root.dataset.recipe}?${query}`, choices, signal);
  const known = JSON.parse(here.textContent ?? "{}");
  if (!Object.hasOwn(known, query)) return { choices, refused: NO_SERVER_TEXT };
  if (typeof known[query] !== "string") return { choices, recipe: known[query] };
  const [answer, whole] = await Promise.all(
    (query ? [query, ""] : [""]).map((each) => get(known[each], choices, signal)),
  );
  if (!whole || !answer.recipe) return answer;
  return whole.recipe ? { choices, recipe: restored(answer.recipe, whole.recipe) } : whole;
}

/** A recipe in which each reference {$same: path} is replaced by a copy of a part of the default recipe. The
 * path is the list of keys that lead to this part (components/publish/shared_parts.py). Plotly needs a copy,
 * because it modifies the data that it draws. @param {any} part the recipe, or a part of it
 * @param {object} whole the default recipe @returns {any} */
function restored(part, whole) {
  if (typeof part !== "object" || !part) return part;
  if (Array.isArray(part)) return part.map((each) => restored(each, whole));
  if (part.$same)
    return structuredClone(
      part.$same.reduce((/** @type {any} */ at, /** @type {string | number} */ name) => at[name], whole),
    );
  return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, restored(each, whole)]));
}

/**
 * Request a recipe from a URL. If the server is busy, the request is repeated after a pause. The pauses grow,
 * and are at least as long as the server's `Retry-After` demands. If the next pause would end more than
 * ANSWER_TIMEOUT_MS after the first request, the answer is `busy`. @param {string} url @param {Record<string,
 * string>} choices @param {AbortSignal} signal @returns {Promise<Answer>}
 */
async function get(url, choices, signal) {
  const end = performance.now() + ANSWER_TIMEOUT_MS;
  const patience = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]);
  const once = () => fetch(url, { signal: patience }).catch(() => null);
  let reply = await once();
  for (let lost = 1; reply && isBusy(reply); lost++) {
    const ms = pause({ empty: 0, lost, after: retryAfter(reply) });
    if (performance.now() + ms > end)
      return { choices, busy: ms, reason: (await reply.json().catch(() => null))?.reason };
    await wait(ms, signal);
    reply = await once();
  }
  const body = await reply
    ?.arrayBuffer()
    .then(inflated)
    .then(JSON.parse)
    .catch(() => null);
  if (!reply || (reply.ok && !body)) return { choices };
  if (reply.ok) return { choices, recipe: body };
  if (reply.status >= FAILED_STATUS) return { choices, failed: reply.status };
  return { choices, refused: body?.error ?? NO_RECIPE_TEXT, parameter: body?.parameter };
}

/** The message for a server that has answered with an HTTP status of at least FAILED_STATUS.
 * @param {number} status */
export const errorText = (status) => `The server has an error (status ${status})`;

/** Whether the server answers that the request should be repeated later. @param {Response} reply */
const isBusy = (reply) =>
  BUSY_STATUSES.includes(reply.status) || (!reply.ok && reply.headers.has("Retry-After"));

/** Decode a file as UTF-8 text; if its first bytes are those of a gzip file, decompress it first. The file's
 * name does not tell whether it is compressed: some file servers send the static site's compressed recipes
 * with `Content-Encoding`, and then the browser has already decompressed them. @param {ArrayBuffer} data
 * @returns {Promise<string>} */
function inflated(data) {
  const [first, second] = new Uint8Array(data, 0, Math.min(2, data.byteLength));
  const packed = first === 0x1f && second === 0x8b;
  return new Response(
    packed ? new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip")) : data,
  ).text();
}
