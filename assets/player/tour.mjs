// @ts-check
/**
 * Show the guided tour of a scene: a card beside the figure, which leads from stop to stop. A stop sets
 * choices, parameters, progress and camera, and has a text that asks the reader to look at one thing. Some
 * stops first ask the reader a question. Until the reader answers or skips the question, the figure shows the
 * state of the previous stop of the tour; at a tour's first stop, the figure stays as it was.
 *
 * Each stop has an entry in the browser's history (address.mjs). So Back leads from stop to stop, and from
 * the first stop it closes the tour. Once the reader has closed the tour, Back skips all its stops: it leads
 * to the state from which the tour was opened.
 *
 * @typedef {{title: string, state: Record<string, string>, html: string, question: string, answers: string[],
 *   right: number}} Stop a stop of the tour. state: names and values of a link's query; html: the stop's
 *   text; question: "" if the stop asks none; right: the index of the right answer
 */

import { h } from "../dom.mjs";
import { arrive, noteStop, writeStop } from "./address.mjs";
import { question, verdict } from "./guess.mjs";
import { selectNamed } from "./tabs.mjs";
/** @import { Player } from "./player.mjs" */

/** Create the elements at the end of the last stop: a sentence that leads to the next scene, and a link to
 * that scene's tour. Returns [] if there is no next scene. @param {HTMLElement} part the text of the scene */
function onwards(part) {
  const bridge = part.querySelector(".onwards .bridge");
  const next = /** @type {HTMLAnchorElement | null} */ (part.querySelector(".onwards a.next[data-to]"));
  if (!bridge || !next) return [];
  return [
    h("p", { innerHTML: bridge.innerHTML }),
    h("p", {}, h("a", { className: "onwards", href: `${next.href}?tour=1` }, next.textContent ?? "")),
  ];
}

/** The card of a player's tour, and the commands to move through the tour. From its construction on, the
 * page's button that starts the tour and the page's links to stops act on this card. */
export class Tour {
  #text;
  #stops;
  #player;
  #start;
  #items; // the list items of the stops, in the page's text
  #current = -1;
  /** @type {Set<number>} the stops whose question has been answered or skipped */ #revealed = new Set();
  #count = h("p", { className: "count" });
  #title = h("h2", { tabIndex: -1 });
  #words = h("div", { className: "words" });
  #back = button("Back", () => this.back());
  #on = button("Next", () => (this.#atEnd && !this.asking ? this.#leave() : this.next()), "on");
  card = h(
    "section",
    { className: "guide", hidden: true, "aria-label": "Tour" },
    h("div", { "aria-live": "polite" }, this.#count, this.#title, this.#words),
    h(
      "div",
      { className: "steps" },
      this.#back,
      this.#on,
      h("span", { className: "space" }),
      button("Close", () => this.#leave()),
    ),
  );

  /** @param {HTMLElement} text the text of the scene @param {Stop[]} stops @param {Player} player */
  constructor(text, stops, player) {
    this.#text = text;
    this.#stops = stops;
    this.#player = player;
    const start = /** @type {HTMLAnchorElement} */ (player.need("head").querySelector("a.on"));
    this.#start = link(start, () => {
      this.visit(this.#first);
      this.#title.focus();
    });
    start.hidden = false; // the page's previous player may have hidden the button during its tour
    this.#items = [...text.querySelectorAll(".tour > ol > li")];
    this.#items.forEach((item, k) =>
      link(/** @type {HTMLAnchorElement} */ (item.querySelector("a")), () => {
        this.visit(k);
        this.#title.focus({ preventScroll: true });
      }),
    );
    player.part("controls")?.prepend(this.card);
    noteStop(player, -1);
  }

  /** The index of the stop that is shown; −1 if none is. */
  get current() {
    return this.#current;
  }

  get last() {
    return this.#stops.length - 1;
  }

  /** The stop that is shown; null if none is. */
  get stop() {
    return this.#stops[this.#current] ?? null;
  }

  /** The stop before the one that is shown, in the same tour; null if there is none. */
  get before() {
    return this.#current > this.#ends(this.#current)[0] ? this.#stops[this.#current - 1] : null;
  }

  /** Whether the present stop asks a question that has been neither answered nor skipped. */
  get asking() {
    const k = this.#current;
    return k >= 0 && Boolean(this.#stops[k].question) && !this.#revealed.has(k);
  }

  /** Whether the present stop is the last of its tour. */
  get #atEnd() {
    return this.#current === this.#ends(this.#current)[1];
  }

  /** Identify the tour to which stop k belongs. If the page names a choice by `data-by`, each value of this
   * choice has a tour of its own: returns the value that the choice has at stop k, which is its default if
   * the stop does not set it. Returns "" if the scene has only one tour. @param {number} k */
  #subject(k) {
    const { by } = this.#start.dataset;
    return by ? (this.#stops[k].state[by] ?? this.#player.usual[by]) : "";
  }

  /** The index of the stop at which the tour starts. If a choice divides the stops into several tours, it is
   * the first stop for the choice's present value; otherwise, or if no stop has that value, 0. */
  get #first() {
    const { by } = this.#start.dataset;
    if (!by) return 0;
    const found = this.#stops.findIndex((_, k) => this.#subject(k) === this.#player.choices[by]);
    return Math.max(0, found);
  }

  /** The indices of the first and the last stop of the tour to which stop k belongs. @param {number} k */
  #ends(k) {
    let [from, to] = [k, k];
    while (from > 0 && this.#subject(from - 1) === this.#subject(k)) from--;
    while (to < this.last && this.#subject(to + 1) === this.#subject(k)) to++;
    return [from, to];
  }

  /** Open the stop that the page's address names. If nothing has the focus yet, the card gets it. @param
   * {number} k the index of the stop */
  open(k) {
    this.visit(k, true);
    if (document.activeElement === document.body) this.#title.focus({ preventScroll: true });
  }

  /** Adapt the tour after the reader has gone back or forward in the browser's history. Show the stop of the
   * present entry, unless it is shown already; if the entry has no stop, close the tour. If the reader has
   * closed the tour and goes back to a stop, skip all stops of the tour. @returns {boolean} false if the
   * caller must show the state that the page's link names */
  restore() {
    const { stop, depth, back, added } = arrive();
    if (stop === this.#current) return added;
    if (stop < 0) this.#close();
    else if (this.#current < 0 && back && depth) history.go(-depth);
    else this.#show(stop);
    return stop >= 0;
  }

  /** Go to a stop, and note it in the browser's history. If the page's link names the stop (`linked`), it is
   * noted in the present entry (`noteStop`). Otherwise a new entry is added (`writeStop`), unless the stop is
   * shown already. @param {number} k the index of the stop @param {boolean} [linked] */
  visit(k, linked = false) {
    if (linked) noteStop(this.#player, k);
    else if (k !== this.#current) writeStop(this.#player, k);
    this.#show(k, linked);
  }

  /** Show a stop: its question if it has an open one, otherwise its text and state. @param {number} k the
   * index of the stop @param {boolean} [linked] whether the page's link names the stop */
  #show(k, linked = false) {
    const before = this.#current;
    const stop = this.#stops[k];
    const [from, to] = this.#ends(k);
    this.#current = k;
    this.#count.textContent = `${k - from + 1} of ${to - from + 1}`;
    this.#title.innerHTML = stop.title;
    this.#back.disabled = k === from;
    this.card.hidden = false;
    this.#start.hidden = true;
    this.#items.forEach((item, i) => item.classList.toggle("current", i === k));
    this.#player.root.classList.toggle("asking", this.asking);
    if (!this.asking) return this.#reveal(null, linked);
    this.#on.textContent = "Show me";
    const focused = document.activeElement;
    const held = this.card.contains(focused) || focused?.checkVisibility() === false;
    this.#words.replaceChildren(question(stop, (guess) => this.answer(guess)));
    // otherwise the focus would stay on the button "Next", now "Show me", and the same key pressed again
    // would skip the question; or in a field that a presentation has just hidden, which would take the digit
    // of an answer
    if (held) this.#title.focus({ preventScroll: true });
    this.#scroll();
    if (k > from && before !== k - 1) this.#player.go(this.#stops[k - 1].state, linked);
  }

  /** Show the text and the state of the present stop. @param {Node | null} judged the verdict on the reader's
   * answer @param {boolean} [linked] whether the page's link names the stop */
  #reveal(judged, linked = false) {
    const k = this.#current;
    this.#player.root.classList.remove("asking");
    this.#words.innerHTML = this.#stops[k].html;
    if (k === this.last) this.#words.append(...onwards(this.#text));
    else if (this.#atEnd) {
      const next = button("", () => this.visit(k + 1));
      next.innerHTML = this.#stops[k + 1].title;
      this.#words.append(h("p", {}, "The next tour begins with ", next));
    }
    if (judged) this.#words.prepend(judged);
    this.#on.textContent = this.#atEnd ? "Done" : "Next";
    this.#scroll();
    this.#player.go(this.#stops[k].state, linked);
    selectNamed(this.#player);
  }

  /** Scroll so that card and figure are both visible, and the card shows its beginning. */
  #scroll() {
    this.card.scrollTop = 0;
    for (const each of [this.#player.need("stage"), this.card]) each.scrollIntoView({ block: "nearest" });
  }

  /** Close the question of the present stop, and show the stop's text and state, with a verdict on the
   * reader's answer. @param {number | null} guess the index of the reader's answer; null if the reader skips
   * the question */
  #judge(guess) {
    // the button with the focus disappears, so the button "Next" gets it
    const held = this.#words.contains(document.activeElement);
    this.#revealed.add(this.#current);
    this.#reveal(verdict(this.#stops[this.#current], guess));
    if (held) this.#on.focus();
  }

  /**
   * Answer the question of the present stop, if one is asked. @param {number} guess the index of the answer
   * @returns {boolean} whether a question was open that has an answer with this index
   */
  answer(guess) {
    const open = this.asking && guess < this.#stops[this.#current].answers.length;
    if (open) this.#judge(guess);
    return open;
  }

  /** Skip the open question, if there is one; otherwise go to the next stop. If no stop is shown, go to the
   * first stop. From the last stop, go to the next scene's tour, if there is a next scene. */
  next() {
    if (this.asking) this.#judge(null);
    else if (this.#current < 0) this.visit(this.#first);
    else if (this.#current < this.last) this.visit(this.#current + 1);
    else /** @type {HTMLElement | null} */ (this.card.querySelector("a.onwards"))?.click();
  }

  /** Go to the previous stop, if there is one. A tour's first stop leads to the previous tour's last stop. */
  back() {
    if (this.#current > 0) this.visit(this.#current - 1);
  }

  /** Close the tour at the reader's request: with a new entry in the browser's history. */
  #leave() {
    this.#player.giveUpStop();
    writeStop(this.#player, -1);
    this.#close();
  }

  #close() {
    this.#current = -1;
    this.#player.root.classList.remove("asking");
    this.card.hidden = true;
    this.#start.hidden = false;
    this.#start.focus();
    for (const item of this.#items) item.classList.remove("current");
  }
}

/** Create a button of the tour's card. @param {string} label @param {() => void} onclick
 * @param {string} [className] */
const button = (label, onclick, className = "") => h("button", { type: "button", className, onclick }, label);

/** Whether a click on a link opens a new tab or window, because the reader holds Ctrl, Meta or Shift.
 * @param {MouseEvent} event */
export const opensElsewhere = ({ ctrlKey, metaKey, shiftKey }) => ctrlKey || metaKey || shiftKey;

/** Let a click on a link call the function `act` instead of following the link, unless the click opens
 * another tab or window. Returns the link. @param {HTMLAnchorElement} a
 * @param {() => void} act */
function link(a, act) {
  a.addEventListener("click", (event) => {
    if (opensElsewhere(event)) return;
    event.preventDefault();
    act();
  });
  return a;
}
