// @ts-check
/**
 * Full-text search in the browser. The index is one JSON file with all texts, made by
 * components/pages/search.py. The first half of this module is pure: it finds the entries for a query. The
 * second half is the search dialog.
 *
 * @typedef {{kind: string, title: string, of: string, text: string, url: string, also?: string}} Entry a text
 *   that can be found, such as a scene or a question. of: the title of the page with this text; also:
 *   synonyms of `title`, joined by ", "
 * @typedef {{entry: Entry, matchShare: number, score: number, snippet: string, more: Entry[]}} Found one page
 *   in the results. entry: the best entry on the page; matchShare: the share of the query's words, weighted
 *   by rarity, that this entry contains; score: by which pages are ordered; snippet: the text to show; more:
 *   further entries on the same page
 */

import { h } from "../dom.mjs";
import { nearestWord } from "./spelling.mjs";

const MAX_PAGES = 8;
const MAX_HITS_PER_PAGE = 2;
const MAX_SNIPPET_CHARACTERS = 200; // longest snippet of a page in the results
/** Parameters of the BM25 score: the weight of a word in an entry's names (a word in its text has weight 1);
 * term saturation (k₁); and length normalisation (b). */
const NAME_WEIGHT = 4;
const TERM_SATURATION = 1.2;
const LENGTH_NORMALIZATION = 0.7;
// weights of other words that count as a match for a word of the query (which itself has weight 1): longer
// words that begin with it, and synonyms of it
const PREFIX_WEIGHT = 0.5;
const SYNONYM_WEIGHT = 0.8;
// The score of a guide (a page of documentation) is multiplied by this, because most questions are about what
// scenes show
const GUIDE_WEIGHT = 0.6;
// if the similarity of the query to a scene's title or synonym is at least this, the reader asks for the
// scene by its name
const MIN_NAME_SIMILARITY = 2 / 3;
// Limits for the share of the query's words, weighted by rarity, that an entry contains. If no entry reaches
// GOOD_MATCH_SHARE, the results are announced only as the closest. Entries are left out that have less than
// MIN_MATCH_SHARE, or less than half of the largest share.
const GOOD_MATCH_SHARE = 0.55;
const MIN_MATCH_SHARE = 0.2;

/** Words that would get the same stem as "Dash" (the library), "fold" or "mean" (the average), but are not
 * forms of these words. */
const NOT_FORMS = /^(?:dash(?:ed|es)|folders?|meanings?)$/;

/** Groups of words that mean the same in our texts, each group as a list of stems. */
const SYNONYMS = (
  "another other | average mean | axis axes coordinate component | big large real" +
  " | delete drop remove rid | dent dip divot" +
  " | explode vanish" +
  " | identical same | imitate learn mimic | keep preserve | location place position | net network" +
  " | reorder shuffle permute"
)
  .split(" | ")
  .map((some) => some.split(" ").map(root));

/** Greek letters and the root sign, by their names in a query. */
const SPELLED_SYMBOLS = new Map(
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

/** Write the symbols of a query as our texts typeset them: sqrt(d_k) becomes √dk, and u_epsilon becomes uε.
 * @param {string} asked the query, after `plainSpelling` */
const typeset = (asked) =>
  asked.replace(/_(\w+)/g, (_, name) => SPELLED_SYMBOLS.get(name) ?? name).replace(/\bsqrt ?\(?(?=\w)/g, "√");

/** The word "mean" as a verb at the end of a question ("What does … mean?"). It is removed, because there it
 * does not ask for the average. */
const VERB_MEAN = /(?<=\bdo(?:es)?\b.*) mean(?=\W*$)/;

/** Stop words: frequent words that say nothing about the subject of a query. They are not searched for. */
const STOP_WORDS = new Set(
  (
    "a about an and any are as at be between by can come could do does explain for from get happen " +
    "happens has have how i if in instead into is it its just many me means much my not of on or so " +
    "that the their there these this to versus vs was we what when where which who why will with would " +
    "you"
  ).split(" "),
);

/** Convert a text to lower case without accents, in British spelling. @param {string} text */
const plainSpelling = (text) =>
  text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/(?<=\p{L}{3})iz(?=[ei]|at)/gu, "is")
    .replaceAll("center", "centre");

/** The stem of a word: differ, different, differently and difference have the same stem. @param {string} word
 */
function root(word) {
  if (NOT_FORMS.test(word)) return word.replace(/(?<=er|ing)s$/, "");
  const ending =
    /(?<=.{4})(?:isations?|ations?|ional(?:ly|ity)?|ions?|[ae]n(?:ts?|tly|ces?)|ic(?:al|ally)?|ising|ised|ises?|ings?|ate[ds]?|ies|ied|ers?|ed|es|s|e|y|ly)$/;
  return word.replace(ending, "").replace(/([^aeiou])\1$/, "$1");
}

/** The words, numbers and symbols of a text, without stop words. 1,500 becomes 1500. @param {string} text */
const wordsOf = (text) =>
  (plainSpelling(text).match(/\p{N}+(?:[.,]\p{N}+)+|[\p{L}\p{N}]+|[^\p{L}\p{N}\p{P}\s]/gu) ?? [])
    .map((word) => (/^\p{N}/u.test(word) ? word.replaceAll(",", "") : word))
    .filter((word) => !STOP_WORDS.has(word));

/** The stem of a word, or the symbol that the word spells out. @param {string} word */
const stem = (word) => root(SPELLED_SYMBOLS.get(word) ?? word);

/** The stems of a text's words, numbers and symbols, without stop words. @param {string} text */
const roots = (text) => wordsOf(text).map(stem);

/** @typedef {{entry: Entry, names: {name: string, words: Set<string>}[], counts: Map<string, number>}} Ready
 *   an entry prepared for the search: its names (title and synonyms), and for each stem a weighted count. An
 *   occurrence in a name counts NAME_WEIGHT times as much as one in the text, and each counts less the longer
 *   the names or the text are */
/** Results of `prepared`, for each list of entries: the prepared entries, each stem's rarity (inverse
 * document frequency), and for each word of letters alone how often it occurs. @type {WeakMap<Entry[], {all:
 * Ready[], rarity: Map<string, number>, vocabulary: Map<string, number>}>} */
const ready = new WeakMap();

/** The search index of a list of entries; it is built at the first call for this list. @param {Entry[]}
 * entries */
function prepared(entries) {
  const cached = ready.get(entries);
  if (cached) return cached;
  const read = entries.map((entry) => {
    const names = [entry.title, ...(entry.also?.split(", ") ?? [])];
    return { entry, names, fields: [names.flatMap(wordsOf), wordsOf(entry.text)] };
  });
  /** @type {Map<string, number>} */ const vocabulary = new Map();
  for (const word of read.flatMap(({ fields }) => fields.flat()).filter((word) => /^\p{L}+$/u.test(word)))
    vocabulary.set(word, (vocabulary.get(word) ?? 0) + 1);
  const meanLengths = [0, 1].map(
    (f) => read.reduce((sum, { fields }) => sum + fields[f].length, 0) / read.length,
  );
  const all = read.map(({ entry, names, fields }) => {
    const counts = new Map();
    fields.forEach((field, f) =>
      field
        .map(stem)
        .forEach((word) =>
          counts.set(
            word,
            (counts.get(word) ?? 0) +
              (f ? 1 : NAME_WEIGHT) /
                (1 - LENGTH_NORMALIZATION + (LENGTH_NORMALIZATION * field.length) / meanLengths[f]),
          ),
        ),
    );
    return {
      entry,
      names: names.map((name) => ({ name: plainSpelling(name), words: new Set(roots(name)) })),
      counts,
    };
  });
  /** @type {Map<string, number>} */ const having = new Map();
  for (const { counts } of all)
    for (const word of counts.keys()) having.set(word, (having.get(word) ?? 0) + 1);
  const rarity = new Map([...having].map(([word, n]) => [word, rare(n, all.length)]));
  const found = { all, rarity, vocabulary };
  ready.set(entries, found);
  return found;
}

/** The inverse document frequency (rarity) of a word that occurs in `some` of `all` entries.
 * @param {number} some @param {number} all */
const rare = (some, all) => Math.log(1 + (all - some + 0.5) / (some + 0.5));

/** The stems that match a query's stem, each with its weight: 1 for the stem itself, PREFIX_WEIGHT for longer
 * stems of the vocabulary that begin with it, and SYNONYM_WEIGHT for its synonyms. @param {string} word a
 * stem of the query @param {Iterable<string>} vocabulary @returns {Map<string, number>} */
function alike(word, vocabulary) {
  const begins = (/** @type {string} */ other) => other.startsWith(word) && !NOT_FORMS.test(other);
  const begun = word.length > 2 && !/^\p{N}/u.test(word) ? [...vocabulary].filter(begins) : [];
  const same = SYNONYMS.filter((some) => some.includes(word)).flat();
  return new Map([
    ...begun.map((other) => /** @type {const} */ ([other, PREFIX_WEIGHT])),
    ...same.map((other) => /** @type {const} */ ([other, SYNONYM_WEIGHT])),
    [word, 1],
  ]);
}

const MARK = /^(?:[a-z]|[^\p{L}\p{N}])$/u; // one Latin letter, or one sign
const isLong = (/** @type {string} */ word) => /^\p{L}{2,}$/u.test(word);

const sum = (/** @type {number[]} */ some) => some.reduce((a, b) => a + b, 0);

/** hits: the entries that match a query well enough, the best first, with scores. likes: for each word of the
 * query, the stems that match it. matchShare: the share of the query's words, weighted by rarity, that an
 * entry has; if it is below MIN_MATCH_SHARE, or below half of the largest, the entry is left out. `hits` is
 * [] also if only letters and signs of a long query match. @param {Entry[]} entries @param {string} query */
function ranked(entries, query) {
  const { all, rarity } = prepared(entries);
  const asked = plainSpelling(query).trim();
  const words = [...new Set(roots(typeset(asked).replace(VERB_MEAN, "")))];
  const likes = words.map((word) => alike(word, rarity.keys()));
  // for each word of the query, and each entry: the weighted count of the stems that match the word
  const matchCounts = likes.map((like) =>
    all.map(({ counts }) => sum([...like].map(([stem, weight]) => weight * (counts.get(stem) ?? 0)))),
  );
  const rarities = matchCounts.map((each) => {
    const n = each.filter(Boolean).length;
    return n && rare(n, all.length);
  });
  const meanRarity = sum(rarities) / rarities.filter(Boolean).length;
  // of the query "<b>unheard</b>" only the letter and the signs occur, which say nothing of its subject
  const onlyMarks = words.some(isLong) && words.every((word, k) => !rarities[k] || MARK.test(word));
  if (!meanRarity || onlyMarks) return { likes, hits: [] };
  // a word of the query that occurs in no entry gets the average weight of the other words
  const wordWeights = rarities.map((each) => each || meanRarity);
  const totalWeight = sum(wordWeights);
  /** The similarity of the query to a name: 2 if both are the same text; otherwise the Dice coefficient
   * 2·(weight of common words)/(weight of query + weight of name). Synonyms and prefixes count in part. */
  const nameSimilarity = (/** @type {Ready["names"][number]} */ { name, words }) => {
    const shared = sum(
      likes.map((like, k) => wordWeights[k] * Math.max(0, ...[...words].map((word) => like.get(word) ?? 0))),
    );
    return name === asked
      ? 2
      : (2 * shared) / (totalWeight + sum([...words].map((word) => rarity.get(word) ?? 0)));
  };
  const hits = all.map(({ entry, names }, i) => {
    const matchShare = sum(wordWeights.map((each, k) => (matchCounts[k][i] ? each : 0))) / totalWeight;
    const bm25 =
      sum(wordWeights.map((each, k) => (each * matchCounts[k][i]) / (TERM_SATURATION + matchCounts[k][i]))) /
      totalWeight;
    const bestNameSimilarity = Math.max(...names.map(nameSimilarity));
    const score = bm25 * matchShare ** 2 + bestNameSimilarity ** 2;
    return {
      entry,
      matchShare,
      bestNameSimilarity,
      score: entry.kind === "guide" ? GUIDE_WEIGHT * score : score,
    };
  });
  const least = Math.max(MIN_MATCH_SHARE, ...hits.map(({ matchShare }) => matchShare / 2));
  return {
    likes,
    hits: hits.filter(({ matchShare }) => matchShare >= least).sort((a, b) => b.score - a.score),
  };
}

/** The pages that match a query, the best first, at most MAX_PAGES; each with its best entries. [] if no
 * entry matches well enough. @param {Entry[]} entries @param {string} query @returns {Found[]} */
export function find(entries, query) {
  const { likes, hits } = ranked(entries, query);
  const page = (/** @type {{entry: Entry}} */ { entry }) =>
    entry.kind === "word" ? entry.url : entry.url.split(/[#?]/)[0];
  return [...new Set(hits.map(page))].slice(0, MAX_PAGES).map((place) => {
    const onPage = hits.filter((hit) => page(hit) === place);
    // if the scene's own entry is the best, but the query is not the scene's name, the best entry for a part
    // of the scene comes first
    const [first, ...more] =
      onPage[0].bestNameSimilarity < MIN_NAME_SIMILARITY && onPage[0].entry.kind === "scene" && onPage[1]
        ? [onPage[1], onPage[0], ...onPage.slice(2)]
        : onPage;
    const shown = first.entry.kind === "scene" ? onPage.map(({ entry }) => entry) : [first.entry];
    return {
      ...first,
      snippet: snippetOf(shown, likes),
      more: more.slice(0, MAX_HITS_PER_PAGE - 1).map(({ entry }) => entry),
    };
  });
}

/** Correct the spelling of a query: each word that occurs in no entry is replaced by the nearest word that
 * does, if one is near enough. Numbers, words with digits and contractions stay as they are. Returns "" if no
 * word is replaced. @param {Entry[]} entries @param {string} query */
export function suggestion(entries, query) {
  const { rarity, vocabulary } = prepared(entries);
  const occurs = (/** @type {string} */ word) =>
    STOP_WORDS.has(word) || [...alike(stem(word), rarity.keys()).keys()].some((each) => rarity.has(each));
  const asked = plainSpelling(query).trim();
  const corrected = asked.replace(/(?<![\p{L}\p{N}]|\p{L}['’])\p{L}+(?![\p{L}\p{N}]|['’]\p{L})/gu, (word) =>
    occurs(word) ? word : (nearestWord(word, vocabulary) ?? word),
  );
  return corrected === asked ? "" : corrected;
}

/** The snippet of a result, at most MAX_SNIPPET_CHARACTERS long. An answer to a question is shown from its
 * beginning. Other texts are shown from the sentence or table row that contains the most words of the query;
 * the snippet is "" if they have no sentence except their titles. @param {Entry[]} entries the entry that was
 * found; if it is a scene, followed by the entries for its parts that match @param {ReturnType<typeof
 * alike>[]} likes for each word of the query, the stems that match it */
function snippetOf(entries, likes) {
  const [{ kind, text }] = entries;
  if (kind === "question") return shortened(text);
  const countMatches = (/** @type {string} */ sentence) => {
    const own = roots(sentence);
    return likes.filter((like) => own.some((word) => like.has(word))).length;
  };
  const sentences = entries.flatMap(({ title, text }) =>
    text.split("\n").flatMap((line) =>
      (line.includes(" · ") ? [line] : line.split(/(?<=[.:?!]) (?=\p{Lu})/u)) // table rows are not split
        .filter((sentence) => sentence.slice(0, -1) !== title)
        .map((sentence) => ({ sentence, line, matches: countMatches(sentence) })),
    ),
  );
  if (!sentences.length) return "";
  const { sentence, line } = sentences.reduce((a, b) => (b.matches > a.matches ? b : a));
  return shortened(line.slice(line.indexOf(sentence)));
}

/** Shorten a text: if it is longer than MAX_SNIPPET_CHARACTERS, it is cut after a word and gets an ellipsis.
 * @param {string} text */
const shortened = (text) =>
  text.length > MAX_SNIPPET_CHARACTERS
    ? `${text.slice(0, text.lastIndexOf(" ", MAX_SNIPPET_CHARACTERS))} …`
    : text;

/** The line above the results, which screen readers announce: the number of pages found, or that no page
 * matches well. @param {Found[]} found */
const announcement = (found) =>
  found.some(({ matchShare }) => matchShare >= GOOD_MATCH_SHARE) || !found.length
    ? `${found.length === MAX_PAGES ? "The best " : ""}${found.length} found`
    : "No page matches these words well. The closest:";

/** @type {Promise<Entry[] | null> | undefined} */ let indexPromise;

/** The entries of the search index, which is loaded once. Null if it cannot be loaded; then the next call
 * tries again. @param {URL} url of the index */
function load(url) {
  indexPromise ??= fetch(url)
    .then((reply) => (reply.ok ? reply.json() : Promise.reject()))
    .catch(() => {
      indexPromise = undefined;
      return null;
    });
  return indexPromise;
}

/** Create the list item that shows one page of the results. @param {Found} found @param {URL} base the
 * address of the index, to which links are relative */
const item = ({ entry, snippet, more }, base) =>
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
        entry.kind === "scene" ? "scene" : `${entry.kind === "stop" ? "tour" : entry.kind} · ${entry.of}`,
      ),
      h("span", {}, snippet),
    ),
    ...more.map((other) =>
      h(
        "a",
        { href: new URL(other.url, base).href, className: "more" },
        other.kind === "scene" ? "The whole scene" : `Also on that page: ${other.title}`,
      ),
    ),
  );

/** Create an empty list of results, an empty line above it, and a function that fills both for the present
 * query. If words of the query are misspelt, the line has a button that searches for the corrected query.
 * @param {URL} base of the index @param {() => HTMLInputElement} fieldOf returns the search field */
function results(base, fieldOf) {
  const list = h("ol", { className: "found" });
  const statusLine = h("p", { className: "status", role: "status" });
  const show = async () => {
    const field = fieldOf();
    const asked = field.value;
    const entries = await load(base);
    if (asked !== field.value) return; // the query has changed while the index was loading
    const found = entries ? find(entries, asked) : [];
    const corrected = entries ? suggestion(entries, asked) : "";
    const onclick = () => {
      field.value = corrected;
      field.focus();
      show();
    };
    if (!entries) statusLine.textContent = "The search index could not be loaded. Type again to retry.";
    else if (corrected)
      statusLine.replaceChildren(
        found.length ? "Did you mean " : `Nothing for “${asked.trim()}”. Did you mean `,
        h("button", { type: "button", onclick }, `“${corrected}”`),
        found.length ? `? ${announcement(found)}` : "?",
      );
    else statusLine.textContent = asked.trim() && announcement(found);
    list.replaceChildren(...found.map((page) => item(page, base)));
  };
  return { list, statusLine, show };
}

/** Open the search dialog. @param {string} source the address of the search index */
export function search(source) {
  const base = new URL(source, location.href);
  load(base);
  const { list, statusLine, show } = results(base, () => field);
  const field = h("input", {
    type: "search",
    "aria-label": "Search titles, texts, questions and symbols",
    placeholder: "Question or symbol",
    autocomplete: "off",
    oninput: show,
  });
  const keys = (/** @type {KeyboardEvent} */ event) => {
    const all = /** @type {HTMLElement[]} */ ([field, ...list.querySelectorAll("a")]);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && event.target === field)
      (all[1] ?? statusLine.querySelector("button"))?.click();
    else if (event.key === "Escape")
      dialog.close(); // by itself Escape would only clear the text of a search field
    else if (step) {
      event.preventDefault();
      all[all.indexOf(/** @type {HTMLElement} */ (event.target)) + step]?.focus();
    }
  };
  const click = (/** @type {Event} */ event) => {
    const target = /** @type {Element} */ (event.target);
    // the dialog must not cover the page when a link leads to another place on it
    if (target === dialog || target.closest("a")) dialog.close();
  };
  const dialog = h(
    "dialog",
    {
      className: "help search",
      "aria-label": "Search",
      onclose: () => dialog.remove(),
      onkeydown: keys,
      onclick: click,
    },
    h(
      "div",
      { className: "asked" },
      field,
      h("button", { type: "button", onclick: () => dialog.close() }, "Close"),
    ),
    statusLine,
    list,
  );
  document.body.append(dialog);
  dialog.showModal();
  field.focus();
}
