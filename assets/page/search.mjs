// @ts-check
/**
 * The search: one file of all texts, looked through here. The first half is pure: words in, entries out.
 *
 * @typedef {{kind: string, title: string, of: string, text: string, url: string, also?: string}} Entry
 * @typedef {{entry: Entry, has: number, score: number, said: string, part?: Entry}} Found a scene has the part of it that fits best
 */

import { h } from "../player/controls.mjs";

const MOST = 12, AROUND = 60; // results; characters on both sides of what was found
/** @type {Record<string, string>} */ const NAMES = { chapter: "chapter", word: "word", scene: "scene", text: "text", stop: "tour", question: "question" };
/** What is found is worth so much, of 1: by where a word stands, and what kind of place that is. */
const TITLE = 0.8, ALSO = 0.75, OF = 0.5, TEXT = 0.35, WHOLE = 0.3, PHRASE = 0.7, PAIR = 0.3;
/** @type {Record<string, number>} */ const WEIGHT = { word: 1.1, scene: 1.15, question: 1.05, chapter: 1.05, stop: 0.95, text: 1 };
const ENOUGH = 0.55; // of what was asked, rare words counting more
const LEAST = 0.3; // … of it, where nothing has enough
const MOSTLY = 0.7; // of it, in the part of a scene that is named
const NEARLY = 0.75; // of the worth of its scene: with it, what answers comes before the scene
const RAREST = 2.5; // a rare word tells more than a common one, but does not outvote several
const NAMELESS = 0.5; // of its worth: a word after which nothing here is called

/** Words that ask for the same here, and how much one is worth in place of another. */
const SAME = ("another other | average mean | axis axes coordinate component | big large real | delete drop remove rid | dent dip divot | eps epsilon | explode vanish"
  + " | identical same | imitate learn mimic | keep preserve | location place position | net network | reorder shuffle permute").split(" | ").map((some) => some.split(" ")), SAID_SO = 0.8;

/** How letters are called that a keyboard has not. @type {Record<string, string>} */
const GREEK = { alpha: "α", beta: "β", gamma: "γ", epsilon: "ε", theta: "θ", mu: "μ", pi: "π", sigma: "σ", sqrt: "√" };

/** As it is set here: sqrt(d_k) is √dk, u_epsilon uε. @param {string} asked */
const written = (asked) => asked.replace(/_(\w+)/g, (_, name) => GREEK[name] ?? name).replace(/\bsqrt ?\(?(?=\w)/g, "√");

/** What "mean" is where it asks, and is no number. */
const MEANS = /(?<=\bdo(?:es)?\b.*) mean$/;

/** Words that ask, and say nothing of what is asked for. */
const LITTLE = new Set(("a about an and any are as at be between by can could do does explain for from get has have how i if in instead into is it its just me means "
  + "my not of on or so that the their there these this to versus vs was we what when where which who why will with would you").split(" "));

/** Small letters without accents; one letter for each, so that places stay. American spellings as ours. @param {string} text */
export const folded = (text) => Array.from(text, (c) => c.normalize("NFD")[0].toLowerCase()[0] ?? c).join("").replace(/(?<=\p{L}{3})iz(?=[ei]|at)/gu, "is").replaceAll("center", "centre");

/** @param {string} text folded @returns {string[]} its words and signs */
const pieces = (text) => text.match(/[\p{L}\p{N}]+|[^\p{L}\p{N}\p{P}\s]/gu) ?? [];

/** With which a word goes on and is the same word to a reader: differ, different, differently, difference. */
const ENDING = "isations?|ations?|ional(?:ly|ity)?|ions?|[ae]n(?:ts?|tly|ces?)|ic(?:al|ally)?|ising|ised|ises?|ings?|ate[ds]?|ies|ied|ers?|ed|es|s|e|y|ly";
const ENDS = new RegExp(`(?<=.{4})(?:${ENDING})$`), IS_ENDING = new RegExp(`^(?:${ENDING})?$`);

/** A word without its ending, if enough is left, also without the letter that this doubled. @param {string} word */
function stems(word) {
  const short = word.replace(ENDS, "");
  return short === word ? [] : [short, short.replace(/([^aeiou])\1$/, "$1")];
}

/** Where a word begins in a text: at a word's start if it can, else anywhere; -1. @param {string} text @param {string} word */
function place(text, word) {
  for (let i = text.indexOf(word); i >= 0; i = text.indexOf(word, i + 1)) if (!/[\p{L}\p{N}]/u.test(text[i - 1] ?? " ")) return i;
  return word.length > 2 ? text.indexOf(word) : -1;
}

/** How like a word others are, of those that are at all, from 0 to 1: itself, begun, with another ending, within. @param {string} word @param {Set<string>} others */
function near(word, others) {
  const short = stems(word), ended = (/** @type {string} */ other) => short.some((stem) => other.startsWith(stem) && IS_ENDING.test(other.slice(stem.length)));
  const like = (/** @type {string} */ other) => (other === word ? 1 : other.startsWith(word) ? 0.9 : ended(other) ? 0.7 : word.length > 3 && other.includes(word) ? 0.4 : 0);
  return [...others].map((other) => ({ other, like: like(other) })).filter(({ like }) => like);
}

/** The words that ask for the same as one, with any ending. @param {string} word */
function alike(word) {
  const root = (/** @type {string} */ one) => stems(one).at(-1) ?? one;
  return SAME.filter((some) => some.map(root).includes(root(word))).flat().filter((one) => root(one) !== root(word));
}

/** How well a word stands among others. @param {Set<string>} words @param {ReturnType<typeof near>} likes */
const fit = (words, likes) => likes.reduce((best, { other, like }) => (like > best && words.has(other) ? like : best), 0);

/** @typedef {{entry: Entry, title: string, also: string, text: string, words: {title: Set<string>, also: Set<string>, of: Set<string>, text: Set<string>, whole: Set<string>}}} Ready */
/** Entries as they are searched, folded once: a scene has the words of all its parts, too. @type {WeakMap<Entry[], {all: Ready[], vocabulary: Set<string>}>} */
const ready = new WeakMap();

/** @param {Entry[]} entries */
function prepared(entries) {
  const known = ready.get(entries), set = (/** @type {string} */ text) => new Set(pieces(text));
  if (known) return known;
  const all = entries.map((entry) => {
    const [title, also, of, text] = [entry.title, entry.also ?? "", entry.of, entry.text].map(folded);
    return { entry, title, also, text, words: { title: set(title), also: set(also), of: set(of), text: set(text), whole: new Set("") } };
  });
  for (const { entry, words } of all) if (entry.kind === "scene") words.whole = set(all.filter((one) => one.entry.of === entry.title).map(({ text, title }) => `${title} ${text}`).join(" "));
  const found = { all, vocabulary: new Set(all.flatMap(({ words }) => Object.values(words).flatMap((each) => [...each]))) };
  ready.set(entries, found);
  return found;
}

/** The entries that have what is asked, or most of it, the best first. @param {Entry[]} entries @param {string} query @returns {Found[]} */
export function find(entries, query) {
  const asked = written(folded(query)).trim(), told = [...new Set(pieces(asked.replace(/[^\p{L}\p{N}]+$/u, "").replace(MEANS, "")))], some = told.filter((word) => !LITTLE.has(word));
  const words = some.length ? some : told, { all, vocabulary } = prepared(entries);
  if (!words.length) return [];
  const likes = words.map((word) => [
    ...[word, GREEK[word]].filter(Boolean).flatMap((each) => near(each, vocabulary)),
    ...alike(word).flatMap((each) => near(each, vocabulary)).map(({ other, like }) => ({ other, like: SAID_SO * like })),
  ]);
  const names = words.map((word, k) => all.map(({ title, words }) => ([word, GREEK[word]].includes(title) ? 1 : Math.max(TITLE * fit(words.title, likes[k]), ALSO * fit(words.also, likes[k])))));
  const fits = likes.map((like, k) => all.map(({ words }, i) => Math.max(names[k][i], OF * fit(words.of, like), TEXT * fit(words.text, like), WHOLE * fit(words.whole, like))));
  const known = fits.map((of) => { const n = of.filter(Boolean).length; return n && Math.min(RAREST, Math.log(1 + all.length / n)); });
  if (!known.some(Boolean)) return [];
  const usual = known.reduce((a, b) => a + b) / known.filter(Boolean).length; // what a word counts that nobody here uses
  const rare = known.map((r, k) => (r || usual) * (names[k].some(Boolean) ? 1 : NAMELESS)), most = rare.reduce((a, b) => a + b);
  const share = (/** @type {number} */ i) => rare.reduce((sum, r, k) => sum + (fits[k][i] ? r : 0), 0) / most;
  const pairs = words.slice(1).map((word, k) => ({ pair: `${words[k]} ${word}`, worth: rare[k] + rare[k + 1] })).filter(({ pair }) => place(asked, pair) >= 0);
  const enough = all.some((_, i) => share(i) >= ENOUGH) ? ENOUGH : LEAST;
  const found = all.map(({ entry, title, also, text }, i) => {
    const has = share(i), good = rare.reduce((sum, r, k) => sum + r * fits[k][i], 0) / most;
    const phrase = [title, also, text].some((told) => place(told, asked) >= 0) ? PHRASE * (title === asked ? 2 : place(title, asked) >= 0 || place(also, asked) >= 0 ? 1 : 0.3) : 0;
    const named = pairs.reduce((sum, { pair, worth }) => sum + (place(title, pair) >= 0 || place(also, pair) >= 0 ? worth : 0), 0) / most; // two words of a name
    return { entry, has, score: has < enough ? 0 : (good * has ** 2 + phrase + PAIR * named) * WEIGHT[entry.kind], said: entry.kind === "question" ? around(entry.text, 0) : said(entry.text, text, words) };
  });
  for (const { entry: scene, score } of found.filter(({ entry }) => entry.kind === "scene")) {
    const [own] = found.filter(({ entry }) => entry.of === scene.title).sort((a, b) => b.score - a.score);
    if (own?.score >= NEARLY * score) own.score = Math.max(own.score, score * 1.001);
  }
  const part = (/** @type {Entry} */ scene) => { // but for its first section, which is seen at once
    const own = all.flatMap(({ entry }, i) => (entry.of === scene.title ? [{ entry, has: share(i), good: rare.reduce((sum, r, k) => sum + r * fits[k][i], 0) }] : []));
    return own.slice(1).filter(({ has }) => has >= MOSTLY).sort((a, b) => b.good - a.good)[0]?.entry;
  };
  const best = found.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score).slice(0, MOST);
  return best.map((one) => (one.entry.kind === "scene" ? { ...one, part: part(one.entry) } : one));
}

/** What stands around the first word that is found, else the beginning. @param {string} text @param {string} searched @param {string[]} words */
function said(text, searched, words) {
  return around(text, Math.max(0, words.map((word) => place(searched, word)).find((at) => at >= 0) ?? 0));
}

/** A text around a place, of whole words. @param {string} text @param {number} at */
function around(text, at) {
  const from = at > AROUND ? Math.min(at, text.indexOf(" ", at - AROUND) + 1) : 0, end = at + 2 * AROUND;
  const to = end < text.length ? Math.max(at, text.lastIndexOf(" ", end)) : text.length;
  return `${from ? "… " : ""}${text.slice(from, to).trim()}${to < text.length ? " …" : ""}`;
}

/** What is said of what was found. @param {Found[]} found */
const heard = (found) => (found.some(({ has }) => has >= ENOUGH) || !found.length ? `${found.length === MOST ? "The best " : ""}${found.length} found` : "Nothing has all of it. The nearest:");

/** @type {Promise<Entry[]> | undefined} */ let known;

/** The dialog. @param {string} source where the entries are */
export function search(source) {
  const base = new URL(source, location.href);
  const get = async () => { const reply = await fetch(base); if (!reply.ok) throw new Error(String(reply.status)); return reply.json(); };
  known ??= get();
  const list = h("ol", { className: "found" }), words = h("p", { className: "said", role: "status" });
  const field = h("input", { type: "search", "aria-label": "Search titles, texts, questions and symbols", placeholder: "Question or symbol", autocomplete: "off" });
  const show = async () => {
    const asked = field.value, entries = await (known ?? get()).catch(() => null);
    if (asked !== field.value) return; // it was typed on
    known = entries ? known : undefined;
    const found = entries ? find(entries, asked) : [];
    words.textContent = entries ? (asked.trim() ? heard(found) : "") : "The texts did not come. Type again to try once more.";
    list.replaceChildren(...found.map(({ entry, said, part }) => h("li", {}, h("a", { href: new URL(entry.url, base).href },
      h("strong", {}, entry.title), h("span", { className: "of" }, `${NAMES[entry.kind]} · ${entry.of}`), h("span", {}, said)),
    ...(part ? [h("a", { href: new URL(part.url, base).href, className: "part" }, `There: ${part.title}`)] : []))));
  };
  field.addEventListener("input", show);
  const first = (/** @type {KeyboardEvent} */ event) => { if (event.key === "Enter") list.querySelector("a")?.click(); };
  field.addEventListener("keydown", /** @type {EventListener} */ (first));
  const along = (/** @type {KeyboardEvent} */ event) => { // from the field to what is found, and back
    const stops = [field, ...list.querySelectorAll("a")], by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault(); // the page behind does not scroll
    stops[stops.indexOf(/** @type {HTMLInputElement} */ (document.activeElement)) + by]?.focus();
  };
  const dialog = h("dialog", { className: "help search", "aria-label": "Search", onclose: () => dialog.remove() },
    h("div", { className: "asked" }, field, h("button", { type: "button", onclick: () => dialog.close() }, "Close")), words, list);
  dialog.addEventListener("keydown", /** @type {EventListener} */ (along));
  dialog.addEventListener("click", (/** @type {Event} */ event) => {
    const target = /** @type {Element} */ (event.target);
    if (target === dialog || target.closest("a")) dialog.close(); // a link may lead to a place of this page
  });
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
}
