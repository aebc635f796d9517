// @ts-check
/** Requests about a reader's files: uploads with a size limit, and errors in words. */

const NO_ANSWER_TEXT = "The server does not answer.";
const mebibytes = (/** @type {number} */ bytes) => Math.ceil((bytes / 2 ** 20) * 10) / 10;

/** @typedef {{answer?: any, words: string}} Asked the server's answer, or what went wrong, in words */

/** Send a file. most: the server's size limit in bytes; beyond it the server may cut the connection without
 * an answer. smaller: how to make the file smaller. @param {string} url @param {File} file
 * @param {number} most @param {string} [smaller] @returns {Promise<Asked>} */
export async function upload(url, file, most, smaller = "") {
  const size = `This file has ${mebibytes(file.size)} MB`;
  if (file.size > most)
    return { words: `${size}: at most ${mebibytes(most)} MB can be opened here.${smaller}` };
  return asked(
    url,
    { method: "POST", body: file },
    {
      507: "The server has no room for a file at the moment. Try again later.",
      413: `${size}, which is more than this server takes.${smaller}`,
      0:
        `The connection broke while the file was sent. ${size}, which may be more than ` +
        `this server takes, or the server does not answer.${smaller}`,
    },
  );
}

/** Send a request. meant: error messages for statuses whose answer has none; status 0 means no answer.
 * @param {string} url @param {RequestInit} [options] @param {Record<number, string>} [meant]
 * @returns {Promise<Asked>} */
export async function asked(url, options = {}, meant = {}) {
  // a content type that no form can send, against cross-site requests
  const headers = options.method === "POST" ? { "Content-Type": "application/octet-stream" } : undefined;
  const reply = await fetch(url, { ...options, headers }).catch(() => null);
  const body = await reply?.json().catch(() => null);
  return reply?.ok && body
    ? { answer: body, words: "" }
    : { words: body?.error ?? meant[reply?.status ?? 0] ?? NO_ANSWER_TEXT };
}
