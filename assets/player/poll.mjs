// @ts-check
/** Poll a server: often while there is news, less and less often while there is none, and with exponential
 * backoff while requests fail. The caller supplies the body of each request, and handles the answers. */

// Pauses between two requests, in milliseconds: the pause after news, the longest pause, and the factor by
// which the pause grows with each answer without news. Then the same three constants for failed requests.
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1000;
const PAUSE_GROWTH = 1.3;
const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 8000;
const RETRY_GROWTH = 2;
const ANSWER_TIMEOUT_MS = 20_000; // milliseconds after which a request counts as failed

/** Compute the pause until the next request, in milliseconds. It grows with `empty`. After a failure it grows
 * with `lost` instead, and is at least `after` seconds. A random factor then spreads the requests
 * of pages that have lost the server at the same time. @param {{empty: number, lost: number, after: number}}
 * since empty: the number of requests since the last news, failed ones included; lost: the number of failed
 * requests in a row; after: the server's Retry-After in seconds @param {number} [chance] a random number from
 * 0 to 1 */
export function pause({ empty, lost, after }, chance = Math.random()) {
  if (!lost) return Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * PAUSE_GROWTH ** empty);
  return Math.max(
    Math.min(MAX_RETRY_MS, MIN_RETRY_MS * RETRY_GROWTH ** (lost - 1)) * (0.75 + chance / 2),
    1000 * after,
  );
}

/** Poll until `heard` returns false or the signal aborts. Each answer is handled once. @param {string} url
 * @param {() => object} question returns the body of a request; called for each request, also after a failure
 * @param {(answer: any) => boolean} heard handles an answer, null if there is no news; returns whether to go
 * on @param {{signal: AbortSignal, sleep: (ms: number) => Promise<void>}} life signal: ends the polling;
 * sleep: waits between requests */
export async function poll(url, question, heard, { signal, sleep }) {
  const since = { empty: 0, lost: 0, after: 0 };
  while (!signal.aborted) {
    const { answer, after } = await ask(url, question(), signal);
    if (signal.aborted) return;
    if (answer !== undefined && !goesOn(heard, answer)) return;
    since.lost = answer === undefined ? since.lost + 1 : 0;
    since.empty = answer ? 0 : since.empty + 1;
    since.after = after;
    await sleep(pause(since));
  }
}

/** Let `heard` handle an answer; returns whether to go on polling. If `heard` throws, the error is reported,
 * and polling goes on. @param {(answer: any) => boolean} heard @param {any} answer */
function goesOn(heard, answer) {
  try {
    return heard(answer);
  } catch (error) {
    reportError(error);
    return true;
  }
}

/** Send one POST request with a JSON body. `answer` is null if there is no news, and undefined if the request
 * failed; `after` is the server's Retry-After in seconds, 0 if it has none. @param {string} url
 * @param {object} body @param {AbortSignal} signal @returns {Promise<{answer: any, after: number}>} */
async function ask(url, body, signal) {
  try {
    const reply = await fetch(url, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json" },
      cache: "no-store",
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]),
    });
    if (!reply.ok) return { answer: undefined, after: Math.min(retryAfter(reply), MAX_RETRY_MS / 1000) };
    return { answer: reply.status === 204 ? null : await reply.json(), after: 0 };
  } catch {
    return { answer: undefined, after: 0 };
  }
}

/** The seconds in a response's header Retry-After; 0 if it has none, or a date. @param {Response} reply */
export const retryAfter = (reply) => Number(reply.headers.get("Retry-After")) || 0;
