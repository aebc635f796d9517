// @ts-check
/** Send a reader's files to the server, with a size limit, and with error messages that readers understand.
 * Also makes the page elements for this: a button that asks for a file, and a line for messages. */

import { h } from "../dom.mjs";

const NO_ANSWER_TEXT = "The server does not answer.";
const mebibytes = (/** @type {number} */ bytes) => Math.ceil((bytes / 2 ** 20) * 10) / 10;

/** @typedef {{answer?: any, words: string}} Asked the server's answer (JSON), and an error message; if there
 *   is an answer, the message is "" */

/** Send a file to the server, and return its answer or an error message. A file larger than `most` bytes is
 * not sent, because the server might cut the connection without an answer. `smaller` is a sentence on how to
 * make the file smaller; it begins with a space, and is added to messages about the file's size.
 * @param {string} url @param {File} file @param {number} most @param {string} [smaller]
 * @returns {Promise<Asked>} */
export async function upload(url, file, most, smaller = "") {
  const size = `This file has ${mebibytes(file.size)} MiB`;
  if (file.size > most)
    return { words: `${size}: at most ${mebibytes(most)} MiB can be opened here.${smaller}` };
  return asked(
    url,
    { method: "POST", body: file },
    {
      403: "This server does not accept files.",
      507: "The server has no room for a file at the moment. Try again later.",
      413: `${size}, which is more than this server takes.${smaller}`,
      0:
        `The connection broke while the file was sent. ${size}, which may be more than ` +
        `this server takes, or the server does not answer.${smaller}`,
    },
  );
}

/** Send a request, and read the answer as JSON. If the request fails, `words` is the error message in the
 * server's answer. If the answer has no message, `words` is the message that `meant` has for the HTTP status;
 * if `meant` has none, NO_ANSWER_TEXT. @param {string} url @param {RequestInit} [options] of `fetch` @param
 * {Record<number, string>} [meant] error messages by HTTP status; status 0 stands for no answer at all
 * @returns {Promise<Asked>} */
export async function asked(url, options = {}, meant = {}) {
  // HTML forms cannot send this content type, so other sites cannot make a reader's browser send such a
  // request
  const headers = options.method === "POST" ? { "Content-Type": "application/octet-stream" } : undefined;
  const reply = await fetch(url, { headers, ...options }).catch(() => null);
  const body = await reply?.json().catch(() => null);
  return reply?.ok && body
    ? { answer: body, words: "" }
    : { words: body?.error ?? meant[reply?.status ?? 0] ?? NO_ANSWER_TEXT };
}

/** Create a button that asks for a file, and the hidden file input that the button clicks.
 * @param {string} label @param {string} accept the file name's ending
 * @param {(file: File) => Promise<void>} open called with the file @param {string} [title] of the button
 * @returns {HTMLElement[]} */
export function fileButton(label, accept, open, title = "") {
  const input = h("input", {
    type: "file",
    accept,
    hidden: true,
    onchange: async () => {
      const [file] = input.files ?? [];
      if (file) await open(file);
      input.value = ""; // so that the same file can be opened again
    },
  });
  return [h("button", { type: "button", title, onclick: () => input.click() }, label), input];
}

/** Create an element for messages about requests (`line`), and a function `answered`. `answered` waits for a
 * request and returns its answer. If the request fails, `answered` shows the error message on the line, and
 * returns undefined. Its argument `meanwhile` is shown while the request runs. */
export function messages() {
  const line = h("p", { role: "alert" });
  const answered = async (/** @type {Promise<Asked>} */ request, meanwhile = "") => {
    line.textContent = meanwhile;
    const { answer, words } = await request;
    line.textContent = words;
    return answer;
  };
  return { line, answered };
}
