// @ts-check
/**
 * The search: one file of all texts, looked through here. The first half is pure: words in, entries out.
 *
 * @typedef {{kind: string, title: string, of: string, text: string, url: string, also?: string}} Entry
 * @typedef {{entry: Entry, score: number, said: string, part?: Entry}} Found a scene has the part of it that fits best
 */

import { h } from "../player/controls.mjs";

const MOST = 12, AROUND = 60; // results; characters on both sides of what was found
/** @type {Record<string, string>} */ const NAMES = { chapter: "chapter", word: "word", scene: "scene", text: "text", stop: "tour", question: "question" };
/** What is found is worth so much, of 1: by where a word stands, and what kind of place that is. */
const TITLE = 0.8, ALSO = 0.75, OF = 0.5, TEXT = 0.35, WHOLE = 0.3, PHRASE = 0.7, PAIR = 0.3;
/** @type {Record<string, number>} */ const WEIGHT = { word: 1.1, scene: 1.15, question: 1.05, chapter: 1.05, stop: 0.95, text: 1 };
const ENOUGH = 0.55; // of what was asked, rare words counting more
const MOSTLY = 0.7; // of it, in the part of a scene that is named
const RAREST = 2.5; // a rare word tells more than a common one, but does not outvote several

/** How letters are called that a keyboard has not. @type {Record<string, string>} */
const GREEK = { alpha: "α", beta: "β", gamma: "γ", epsilon: "ε", theta: "θ", mu: "μ", pi: "π", sigma: "σ", sqrt: "√" };

/** What "mean" is where it asks, and is no number. */
const MEANS = /(?<=\bdo(?:es)?\b.*) mean$/;

/** Words that ask, and say nothing of what is asked for. */
const LITTLE = new Set(("a about an and any are as at be between by can could do does explain for from get has have how i if in instead into is it its me means "
  + "my not of on or so that the their there these this to versus vs was we what when where which who why will with would you").split(" "));

/** Small letters without accents; one letter for each, so that places stay. American spellings as ours. @param {string} text */
export const folded = (text) => Array.from(text, (c) => c.normalize("NFD")[0].toLowerCase()[0] ?? c).join("").replace(/(?<=\p{L}{3})iz(?=[ei]|at)/gu, "is").replaceAll("center", "centre");

/** @param {string} text folded @returns {string[]} its words and signs */
const pieces = (text) => text.match(/[\p{L}\p{N}]+|[^\p{L}\p{N}\p{P}\s]/gu) ?? [];

/** A word without its ending, if enough is left. @param {string} word */
const stem = (word) => word.replace(/(?<=.{4})(?:isations?|ations?|ising|ised|ises?|ing|ies|ied|ed|es|s|e|y|ly)$/, "");

/** Where a word begins in a text: at a word's start if it can, else anywhere; -1. @param {string} text @param {string} word */
function place(text, word) {
  for (let i = text.indexOf(word); i >= 0; i = text.indexOf(word, i + 1)) if (!/[\p{L}\p{N}]/u.test(text[i - 1] ?? " ")) return i;
  return word.length > 2 ? text.indexOf(word) : -1;
}

/** How well a word stands in a text, from 0 to 1: whole, with another ending, within another word. @param {string} text @param {string} word */
function fit(text, word) {
  let best = 0;
  for (let i = text.indexOf(word); i >= 0 && best < 1; i = text.indexOf(word, i + 1)) {
    const [before, after] = [text[i - 1] ?? " ", text[i + word.length] ?? " "].map((c) => /[\p{L}\p{N}]/u.test(c));
    best = Math.max(best, !before && !after ? 1 : !before ? 0.9 : word.length > 3 ? 0.4 : 0);
  }
  const short = stem(word);
  return best || (short !== word && place(text, short) >= 0 ? 0.7 : 0);
}

/** Entries as they are searched, folded once: a scene has the words of all its parts, too. @type {WeakMap<Entry[], {entry: Entry, title: string, also: string, of: string, text: string, whole: string}[]>} */
const ready = new WeakMap();

/** @param {Entry[]} entries */
function prepared(entries) {
  const known = ready.get(entries);
  if (known) return known;
  const all = entries.map((entry) => ({ entry, title: folded(entry.title), also: folded(entry.also ?? ""), of: folded(entry.of), text: folded(entry.text), whole: "" }));
  for (const one of all) if (one.entry.kind === "scene") one.whole = all.filter(({ entry }) => entry.of === one.entry.title).map(({ text, title }) => `${title} ${text}`).join(" ");
  ready.set(entries, all);
  return all;
}

/** The entries that have what is asked, or most of it, the best first. @param {Entry[]} entries @param {string} query @returns {Found[]} */
export function find(entries, query) {
  const asked = folded(query).trim(), told = [...new Set(pieces(asked.replace(/\P{L}+$/u, "").replace(MEANS, "")))], some = told.filter((word) => !LITTLE.has(word));
  const words = some.length ? some : told, all = prepared(entries);
  if (!words.length) return [];
  const fits = words.map((word) => all.map(({ title, also, of, text, whole }) => Math.max(...(GREEK[word] ? [word, GREEK[word]] : [word]).map((w) =>
    Math.max(title === w ? 1 : TITLE * fit(title, w), ALSO * fit(also, w), pieces(of).includes(w) ? 0.9 : OF * fit(of, w), TEXT * fit(text, w), WHOLE * fit(whole, w))))));
  const known = fits.map((of) => { const n = of.filter(Boolean).length; return n && Math.min(RAREST, Math.log(1 + all.length / n)); });
  const usual = known.reduce((a, b) => a + b) / known.filter(Boolean).length; // what a word counts that nobody here uses
  const rare = known.map((r) => r || usual), most = rare.reduce((a, b) => a + b);
  if (!(most > 0)) return [];
  const share = (/** @type {number} */ i) => rare.reduce((sum, r, k) => sum + (fits[k][i] ? r : 0), 0) / most;
  const pairs = words.slice(1).map((word, k) => ({ pair: `${words[k]} ${word}`, worth: rare[k] + rare[k + 1] })).filter(({ pair }) => place(asked, pair) >= 0);
  const found = all.map(({ entry, title, also, text }, i) => {
    const has = share(i);
    const good = rare.reduce((sum, r, k) => sum + r * fits[k][i], 0) / most;
    const phrase = [title, also, text].some((told) => place(told, asked) >= 0) ? PHRASE * (title === asked ? 2 : place(title, asked) >= 0 || place(also, asked) >= 0 ? 1 : 0.3) : 0;
    const named = pairs.reduce((sum, { pair, worth }) => sum + (place(title, pair) >= 0 || place(also, pair) >= 0 ? worth : 0), 0) / most; // two words of a name
    return { entry, score: has < ENOUGH ? 0 : (good * has ** 2 + phrase + PAIR * named) * WEIGHT[entry.kind], said: said(entry.text, text, words) };
  });
  const part = (/** @type {Entry} */ scene) => { // but for its first section, which is seen at once
    const own = all.flatMap(({ entry }, i) => (entry.of === scene.title ? [{ entry, has: share(i), good: rare.reduce((sum, r, k) => sum + r * fits[k][i], 0) }] : []));
    return own.slice(1).filter(({ has }) => has >= MOSTLY).sort((a, b) => b.good - a.good)[0]?.entry;
  };
  const best = found.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score).slice(0, MOST);
  return best.map((one) => (one.entry.kind === "scene" ? { ...one, part: part(one.entry) } : one));
}

/** What stands around the first word that is found, else the beginning. @param {string} text @param {string} searched @param {string[]} words */
function said(text, searched, words) {
  const at = Math.max(0, words.map((word) => place(searched, word)).find((at) => at >= 0) ?? 0);
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
    list.replaceChildren(...found.map(({ entry, said, part }) => h("li", {}, h("a", { href: new URL(entry.url, base).href },
      h("strong", {}, entry.title), h("span", { className: "of" }, `${NAMES[entry.kind]} · ${entry.of}`), h("span", {}, said)),
    ...(part ? [h("a", { href: new URL(part.url, base).href, className: "part" }, `There: ${part.title}`)] : []))));
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
