// @ts-check
/**
 * The search: one file of all texts, looked through here. The first half is pure: words in, entries out.
 *
 * @typedef {{kind: string, title: string, of: string, text: string, url: string, also?: string}} Entry
 * @typedef {{entry: Entry, has: number, score: number, said: string, more: Entry[]}} Found the best of a
 *   page; more of the same page
 */

import { h } from "../dom.mjs";

const MOST = 8;
const EACH = 2;
const LINE = 200; // pages; hits on one; letters of what is told of one
/** @type {Record<string, string>} */ const NAMES = {
  chapter: "chapter",
  word: "word",
  scene: "scene",
  text: "text",
  stop: "tour",
  question: "question",
  table: "table",
  guide: "guide",
};
/** BM25: what a word in a name counts beside one in the text, how soon once more tells no more, how much
 * length counts. */
const NAMED = 4;
const SOON = 1.2;
const LONG = 0.7;
// what a longer word counts in place of the one asked for, and another that asks for the same
const BEGUN = 0.5;
const SAID_SO = 0.8;
const GUIDES = 0.6; // what a guide counts beside a scene: most questions are about what scenes show
const CALLED = 2 / 3; // as like a name: then it is asked for by it
// of what was asked, rare words counting more: has nothing enough, the nearest are told
const ENOUGH = 0.55;
const LEAST = 0.2;

/** Words that are not forms of Dash, a library, or of "fold". */
const NOT_FORMS = /^(?:dash(?:ed|es)|folders?)$/;

/** Words that ask for the same here. */
const SAME = (
  "another other | average mean | axis axes coordinate component | big large real" +
  " | delete drop remove rid | dent dip divot" +
  " | explode vanish" +
  " | identical same | imitate learn mimic | keep preserve | location place position | net network" +
  " | reorder shuffle permute"
)
  .split(" | ")
  .map((some) => some.split(" ").map(root));

/** How letters are called that a keyboard has not. */
const GREEK = new Map(
  Object.entries({
    alpha: "α",
    beta: "β",
    gamma: "γ",
    epsilon: "ε",
    eps: "ε",
    theta: "θ",
    mu: "μ",
    pi: "π",
    sigma: "σ",
    sqrt: "√",
  }),
);

/** As it is set here: sqrt(d_k) is √dk, u_epsilon uε. @param {string} asked folded */
const written = (asked) =>
  asked.replace(/_(\w+)/g, (_, name) => GREEK.get(name) ?? name).replace(/\bsqrt ?\(?(?=\w)/g, "√");

/** What "mean" is where it asks, and is no number. */
const MEANS = /(?<=\bdo(?:es)?\b.*) mean(?=\W*$)/;

/** Words that ask, and say nothing of what is asked for. */
const LITTLE = new Set(
  (
    "a about an and any are as at be between by can come could do does explain for from get happen " +
    "happens has have how i if in instead into is it its just many me means much my not of on or so " +
    "that the their there these this to versus vs was we what when where which who why will with would " +
    "you"
  ).split(" "),
);

/** Small letters without accents. American spellings as ours. @param {string} text */
const folded = (text) =>
  text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/(?<=\p{L}{3})iz(?=[ei]|at)/gu, "is")
    .replaceAll("center", "centre");

/** A word without what it may end with and be the same word to a reader: differ, different, differently,
 * difference. @param {string} word */
function root(word) {
  if (NOT_FORMS.test(word)) return word;
  const ending =
    /(?<=.{4})(?:isations?|ations?|ional(?:ly|ity)?|ions?|[ae]n(?:ts?|tly|ces?)|ic(?:al|ally)?|ising|ised|ises?|ings?|ate[ds]?|ies|ied|ers?|ed|es|s|e|y|ly)$/;
  return word.replace(ending, "").replace(/([^aeiou])\1$/, "$1");
}

/** The roots of the words, numbers and signs of a text that say something. 1,500 is 1500.
 * @param {string} text */
const roots = (text) =>
  (folded(text).match(/\p{N}+(?:[.,]\p{N}+)+|[\p{L}\p{N}]+|[^\p{L}\p{N}\p{P}\s]/gu) ?? [])
    .map((word) => (/^\p{N}/u.test(word) ? word.replaceAll(",", "") : word))
    .filter((word) => !LITTLE.has(word))
    .map((word) => root(GREEK.get(word) ?? word));

/** @typedef {{entry: Entry, names: {name: string, words: Set<string>}[], counts: Map<string, number>}} Ready
 * how often each root stands there */
/** Entries as they are searched, made once.
 * @type {WeakMap<Entry[], {all: Ready[], rarity: Map<string, number>}>} */
const ready = new WeakMap();

/** @param {Entry[]} entries */
function prepared(entries) {
  const known = ready.get(entries);
  if (known) return known;
  const read = entries.map((entry) => {
    const names = [entry.title, ...(entry.also?.split(", ") ?? [])];
    return { entry, names, fields: [names.flatMap(roots), roots(entry.text)] };
  });
  const usual = [0, 1].map((f) => read.reduce((sum, { fields }) => sum + fields[f].length, 0) / read.length);
  const all = read.map(({ entry, names, fields }) => {
    const counts = new Map();
    fields.forEach((field, f) =>
      field.forEach((word) =>
        counts.set(
          word,
          (counts.get(word) ?? 0) + (f ? 1 : NAMED) / (1 - LONG + (LONG * field.length) / usual[f]),
        ),
      ),
    );
    return {
      entry,
      names: names.map((name) => ({ name: folded(name), words: new Set(roots(name)) })),
      counts,
    };
  });
  /** @type {Map<string, number>} */ const having = new Map();
  for (const { counts } of all)
    for (const word of counts.keys()) having.set(word, (having.get(word) ?? 0) + 1);
  const found = { all, rarity: new Map([...having].map(([word, n]) => [word, rare(n, all.length)])) };
  ready.set(entries, found);
  return found;
}

/** What a word tells that so many have, of all. @param {number} some @param {number} all */
const rare = (some, all) => Math.log(1 + (all - some + 0.5) / (some + 0.5));

/** The roots that answer to a word, and how well. @param {string} word @param {Iterable<string>} vocabulary
 * @returns {Map<string, number>} */
function alike(word, vocabulary) {
  const begins = (/** @type {string} */ other) => other.startsWith(word) && !NOT_FORMS.test(other);
  const begun = word.length > 2 && !/^\p{N}/u.test(word) ? [...vocabulary].filter(begins) : [];
  const same = SAME.filter((some) => some.includes(word)).flat();
  return new Map([
    ...begun.map((other) => /** @type {const} */ ([other, BEGUN])),
    ...same.map((other) => /** @type {const} */ ([other, SAID_SO])),
    [word, 1],
  ]);
}

const sum = (/** @type {number[]} */ some) => some.reduce((a, b) => a + b, 0);

/** The entries that have what is asked, or most of it, the best first; those of one page as one.
 * @param {Entry[]} entries @param {string} query @returns {Found[]} */
export function find(entries, query) {
  const { all, rarity } = prepared(entries);
  const asked = folded(query).trim();
  const words = [...new Set(roots(written(asked).replace(MEANS, "")))];
  const likes = words.map((word) => alike(word, rarity.keys()));
  const counts = likes.map((like) =>
    all.map(({ counts }) => sum([...like].map(([word, worth]) => worth * (counts.get(word) ?? 0)))),
  );
  const known = counts.map((each) => {
    const n = each.filter(Boolean).length;
    return n && rare(n, all.length);
  });
  const usual = sum(known) / known.filter(Boolean).length;
  if (!usual) return [];
  // a word that nobody here uses counts as others do
  const worth = known.map((each) => each || usual);
  const most = sum(worth);
  /** How like a name it is: twice what they share, of what both have; just that name is more than like it. */
  const named = (/** @type {Ready["names"][number]} */ { name, words }) => {
    const shared = sum(
      likes.map((like, k) => worth[k] * Math.max(0, ...[...words].map((word) => like.get(word) ?? 0))),
    );
    return name === asked ? 2 : (2 * shared) / (most + sum([...words].map((word) => rarity.get(word) ?? 0)));
  };
  const found = all.map(({ entry, names }, i) => {
    const has = sum(worth.map((each, k) => (counts[k][i] ? each : 0))) / most;
    const good = sum(worth.map((each, k) => (each * counts[k][i]) / (SOON + counts[k][i]))) / most;
    const called = Math.max(...names.map(named));
    const score = good * has ** 2 + called ** 2;
    return { entry, has, called, score: entry.kind === "guide" ? GUIDES * score : score };
  });
  const least = Math.max(LEAST, ...found.map(({ has }) => has / 2));
  const best = found.filter(({ has }) => has >= least).sort((a, b) => b.score - a.score);
  const page = (/** @type {{entry: Entry}} */ { entry }) =>
    entry.kind === "word" ? entry.url : entry.url.split(/[#?]/)[0];
  return [...new Set(best.map(page))].slice(0, MOST).map((place) => {
    const own = best.filter((each) => page(each) === place);
    // a scene that was not asked for by name
    const [first, ...more] =
      own[0].called < CALLED && own[0].entry.kind === "scene" && own[1]
        ? [own[1], own[0], ...own.slice(2)]
        : own;
    const shown = first.entry.kind === "scene" ? own.map(({ entry }) => entry) : [first.entry];
    return {
      ...first,
      said: said(shown, likes),
      more: more.slice(0, EACH - 1).map(({ entry }) => entry),
    };
  });
}

/** What is told of a hit: an answer from its beginning; of other texts the sentence, or the row of a table,
 * that has most of what is asked, and as much as fits of what follows it.
 * @param {Entry[]} entries the first is the hit; of a scene also its parts
 * @param {ReturnType<typeof alike>[]} likes */
function said(entries, likes) {
  const [{ kind, text }] = entries;
  if (kind === "question") return shortened(text);
  const shares = (/** @type {string} */ sentence) => {
    const own = roots(sentence);
    return likes.filter((like) => own.some((word) => like.has(word))).length;
  };
  const sentences = entries.flatMap(({ title, text }) =>
    text.split("\n").flatMap((line) =>
      (line.includes(" · ") ? [line] : line.split(/(?<=[.:?!]) (?=\p{Lu})/u)) // a row is told whole
        .filter((sentence) => sentence.slice(0, -1) !== title)
        .map((sentence) => ({ sentence, line, shares: shares(sentence) })),
    ),
  );
  if (!sentences.length) return "";
  const { sentence, line } = sentences.reduce((a, b) => (b.shares > a.shares ? b : a));
  return shortened(line.slice(line.indexOf(sentence)));
}

/** @param {string} text */
const shortened = (text) => (text.length > LINE ? `${text.slice(0, text.lastIndexOf(" ", LINE))} …` : text);

/** What is said of what was found. @param {Found[]} found */
const heard = (found) =>
  found.some(({ has }) => has >= ENOUGH) || !found.length
    ? `${found.length === MOST ? "The best " : ""}${found.length} found`
    : "No page has all of these words. The closest:";

/** @type {Promise<Entry[]> | undefined} */ let known;

/** The dialog. @param {string} source where the entries are */
export function search(source) {
  const base = new URL(source, location.href);
  const get = async () => {
    const reply = await fetch(base);
    if (!reply.ok) throw new Error(String(reply.status));
    return reply.json();
  };
  known ??= get();
  const list = h("ol", { className: "found" });
  const words = h("p", { className: "said", role: "status" });
  const field = h("input", {
    type: "search",
    "aria-label": "Search titles, texts, questions and symbols",
    placeholder: "Question or symbol",
    autocomplete: "off",
  });
  const show = async () => {
    const asked = field.value;
    const entries = await (known ?? get()).catch(() => null);
    if (asked !== field.value) return; // it was typed on
    known = entries ? known : undefined;
    const found = entries ? find(entries, asked) : [];
    words.textContent = entries
      ? asked.trim()
        ? heard(found)
        : ""
      : "The search index could not be loaded. Type again to retry.";
    list.replaceChildren(
      ...found.map(({ entry, said, more }) =>
        h(
          "li",
          {},
          h(
            "a",
            { href: new URL(entry.url, base).href },
            h("strong", {}, entry.title),
            h(
              "span",
              { className: "of" },
              entry.kind === "scene" ? "scene" : `${NAMES[entry.kind]} · ${entry.of}`,
            ),
            h("span", {}, said),
          ),
          ...more.map((other) =>
            h(
              "a",
              { href: new URL(other.url, base).href, className: "more" },
              other.kind === "scene" ? "The whole scene" : `Also on that page: ${other.title}`,
            ),
          ),
        ),
      ),
    );
  };
  field.addEventListener("input", show);
  const keys = (/** @type {KeyboardEvent} */ event) => {
    const all = /** @type {HTMLElement[]} */ ([field, ...list.querySelectorAll("a")]);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && event.target === field) all[1]?.click();
    else if (event.key === "Escape")
      dialog.close(); // a search field would only empty itself
    else if (step) {
      event.preventDefault();
      all[all.indexOf(/** @type {HTMLElement} */ (event.target)) + step]?.focus();
    }
  };
  const dialog = h(
    "dialog",
    { className: "help search", "aria-label": "Search", onclose: () => dialog.remove() },
    h(
      "div",
      { className: "asked" },
      field,
      h("button", { type: "button", onclick: () => dialog.close() }, "Close"),
    ),
    words,
    list,
  );
  dialog.addEventListener("keydown", /** @type {EventListener} */ (keys));
  dialog.addEventListener("click", (/** @type {Event} */ event) => {
    const target = /** @type {Element} */ (event.target);
    if (target === dialog || target.closest("a")) dialog.close(); // a link may lead to a place of this page
  });
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
}
