// @ts-check
/** A question that is asked over and over: soon again while there is news, more and more seldom while there
 * is none; and when no answer comes, again, with patience. Knows neither the page nor what it asks. */

// milliseconds between two questions; grows with each answer without news
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1000;
const PAUSE_GROWTH = 1.3;
const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 8000;
const RETRY_GROWTH = 2; // the same after questions that were not answered
const ANSWER_TIMEOUT_MS = 20_000; // milliseconds after which a question counts as not answered

/** Milliseconds until the next question. @param {{empty: number, lost: number, after: number}} since the last
 * news, the last answer; seconds that the server has asked for @param {number} [chance] from 0 to 1: many
 * pages that have lost one server come back apart */
export function pause({ empty, lost, after }, chance = Math.random()) {
  if (!lost) return Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * PAUSE_GROWTH ** empty);
  return Math.max(
    Math.min(MAX_RETRY_MS, MIN_RETRY_MS * RETRY_GROWTH ** (lost - 1)) * (0.75 + chance / 2),
    1000 * after,
  );
}

/** Ask until `heard` says that this was the end, or nobody listens any more. Each answer is heard once; what
 * was not answered whole is asked again. @param {string} url @param {() => object} question
 * @param {(answer: any) => boolean} heard whether to go on; of null, that nothing is new
 * @param {{signal: AbortSignal, sleep: (ms: number) => Promise<void>}} life */
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

/** One answer that cannot be shown is no end. @param {(answer: any) => boolean} heard @param {any} answer */
function goesOn(heard, answer) {
  try {
    return heard(answer);
  } catch (error) {
    reportError(error);
    return true;
  }
}

/** One answer: null if nothing is new, undefined if there is none. @param {string} url @param {object} body
 * @param {AbortSignal} signal @returns {Promise<{answer: any, after: number}>} */
async function ask(url, body, signal) {
  try {
    const reply = await fetch(url, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json" },
      cache: "no-store",
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]),
    });
    const after = Number(reply.headers.get("Retry-After")) || 0;
    if (!reply.ok) return { answer: undefined, after: Math.min(after, MAX_RETRY_MS / 1000) };
    return { answer: reply.status === 204 ? null : await reply.json(), after: 0 };
  } catch {
    return { answer: undefined, after: 0 };
  }
}
