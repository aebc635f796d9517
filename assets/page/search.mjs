// @ts-check
/**
 * The search: one file of all texts, looked through here. The first half is pure: words in, entries out.
 *
 * @typedef {{kind: string, title: string, of: string, text: string, url: string}} Entry
 * @typedef {{entry: Entry, score: number, said: string}} Found
 */

import { h } from "../player/controls.mjs";

const MOST = 12, AROUND = 60; // results; characters on both sides of what was found
/** @type {Record<string, number>} */ const WEIGHT = { word: 3, scene: 3, question: 2, chapter: 2, stop: 1, text: 1 };
/** @type {Record<string, string>} */ const NAMES = { chapter: "chapter", word: "word", scene: "scene", text: "text", stop: "tour", question: "question" };

/** How letters are called that a keyboard has not. @type {Record<string, string>} */
const GREEK = { alpha: "α", beta: "β", gamma: "γ", epsilon: "ε", theta: "θ", mu: "μ", pi: "π", sigma: "σ" };

/** Small letters without accents; one letter for each, so that places stay. @param {string} text */
export const folded = (text) => Array.from(text, (c) => c.normalize("NFD")[0].toLowerCase()[0] ?? c).join("");

/** Where a word begins in a text: at a word's start if it can, else anywhere; -1. @param {string} text @param {string} word */
function place(text, word) {
  for (let i = text.indexOf(word); i >= 0; i = text.indexOf(word, i + 1)) if (!/[\p{L}\p{N}]/u.test(text[i - 1] ?? " ")) return i;
  return text.indexOf(word);
}

/** The entries that have all words, the best first. @param {Entry[]} entries @param {string} query @returns {Found[]} */
export function find(entries, query) {
  const words = folded(query).split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const all = entries.map((entry) => {
    const title = folded(entry.title), of = folded(entry.of), text = folded(entry.text);
    const one = (/** @type {string} */ word) => {
      const at = place(title, word), whole = title === word ? 12 : 0;
      if (at >= 0) return 8 + whole + (at === 0 ? 2 : 0);
      return of.split(/\s+/).includes(word) ? 14 : of.includes(word) ? 3 : text.includes(word) ? 2 : 0;
    };
    const scores = words.map((word) => Math.max(one(word), GREEK[word] ? one(GREEK[word]) : 0));
    const score = scores.every(Boolean) ? scores.reduce((a, b) => a + b) + (WEIGHT[entry.kind] ?? 0) : 0;
    return { entry, score, said: said(entry.text, text, words) };
  });
  return all.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score).slice(0, MOST);
}

/** What stands around the first word that is found, else the beginning. @param {string} text @param {string} searched @param {string[]} words */
function said(text, searched, words) {
  const at = Math.max(0, ...words.map((word) => place(searched, word)).slice(0, 1));
  const from = Math.max(0, at - AROUND), to = Math.min(text.length, at + 2 * AROUND);
  return `${from ? "… " : ""}${text.slice(from, to).trim()}${to < text.length ? " …" : ""}`;
}

/** @type {Promise<Entry[]> | undefined} */ let known;

/** The dialog. @param {string} source where the entries are */
export function search(source) {
  const base = new URL(source, location.href);
  const get = async () => { const reply = await fetch(base); if (!reply.ok) throw new Error(String(reply.status)); return reply.json(); };
  known ??= get();
  const list = h("ol", { className: "found" }), words = h("p", { className: "said", role: "status" });
  const field = h("input", { type: "search", "aria-label": "Search titles, texts, questions and symbols", placeholder: "Titles, texts, questions, symbols", autocomplete: "off" });
  const show = async () => {
    const asked = field.value, entries = await (known ?? get()).catch(() => null);
    if (asked !== field.value) return; // it was typed on
    known = entries ? known : undefined;
    const found = entries ? find(entries, asked) : [];
    words.textContent = entries ? (asked.trim() ? `${found.length === MOST ? "The best " : ""}${found.length} found` : "") : "The texts did not come. Type again to try once more.";
    list.replaceChildren(...found.map(({ entry, said }) => h("li", {}, h("a", { href: new URL(entry.url, base).href },
      h("strong", {}, entry.title), h("span", { className: "of" }, `${NAMES[entry.kind]} · ${entry.of}`), h("span", {}, said)))));
  };
  field.addEventListener("input", show);
  const first = (/** @type {KeyboardEvent} */ event) => { if (event.key === "Enter") list.querySelector("a")?.click(); };
  field.addEventListener("keydown", /** @type {EventListener} */ (first));
  const dialog = h("dialog", { className: "help search", "aria-label": "Search", onclose: () => dialog.remove() },
    h("div", { className: "asked" }, field, h("button", { type: "button", onclick: () => dialog.close() }, "Close")), words, list);
  dialog.addEventListener("click", (/** @type {Event} */ event) => {
    const target = /** @type {Element} */ (event.target);
    if (target === dialog || target.closest("a")) dialog.close(); // a link may lead to a place of this page
  });
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
}
