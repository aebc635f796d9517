// @ts-check
/**
 * The guided tour of a scene: a card beside the figure, which leads from stop to stop. A stop sets choices,
 * parameters, progress and camera, and has a text that asks the reader to look at one thing. Some stops first
 * ask the reader for a prediction; until it is made, the figure stays in the state of the stop before.
 *
 * @typedef {{title: string, state: Record<string, string>, html: string, question: string, answers: string[],
 *   right: number}} Stop
 */

import { h } from "../dom.mjs";
import { question, verdict } from "./guess.mjs";

/** @typedef {ReturnType<typeof tour>} Tour */

/** The elements that end the last stop: a sentence that leads to the next scene, and a link to that scene's
 * tour. Empty if there is no next scene. @param {HTMLElement} part the text of the scene */
function onwards(part) {
  const bridge = part.querySelector(".onwards .bridge");
  const next = /** @type {HTMLAnchorElement | null} */ (part.querySelector(".onwards a.next[data-to]"));
  if (!bridge || !next) return [];
  return [
    h("p", { innerHTML: bridge.innerHTML }),
    h("p", {}, h("a", { className: "onwards", href: `${next.href}?tour=1` }, next.textContent ?? "")),
  ];
}

/** Create the tour of a player: its card, and functions to move in it. The page's button that starts the
 * tour, and its links to the stops, act on the card from now on. @param {HTMLElement} part
 * @param {Stop[]} all @param {import("./player.mjs").Player} player */
export function tour(part, all, player) {
  const last = all.length - 1;
  const shown = /** @type {Set<number>} */ (new Set()); // stops whose question has been answered or skipped
  let current = -1;
  const count = h("p", { className: "count" });
  const title = h("h2", { tabIndex: -1 });
  const words = h("div", { className: "words" });
  const button = (/** @type {string} */ label, /** @type {() => void} */ onclick, className = "") =>
    h("button", { type: "button", className, onclick }, label);
  const back = button("Back", () => step(-1));
  const on = button("Next", () => (current < ends(current)[1] || asking() ? step(1) : close()), "on");
  const card = h(
    "section",
    { className: "guide", hidden: true, "aria-label": "Tour" },
    h("div", { "aria-live": "polite" }, count, title, words),
    h(
      "div",
      { className: "steps" },
      back,
      on,
      h("span", { className: "space" }),
      button("Close", () => close()),
    ),
  );
  /** Which of several tours a stop belongs to. A scene may have one choice (`data-by`) whose values have a
   * tour each: this is the stop's value of this choice; "" if the scene has only one tour. @param {number} k
   */
  const subject = (k) => {
    const { by } = start.dataset;
    return by ? (all[k].state[by] ?? player.usual[by]) : "";
  };
  /** The index of the stop at which the tour starts: the first one for the present value of the choice that
   * divides the stops into tours; 0 if there is none. */
  const first = () => {
    const { by } = start.dataset;
    if (!by) return 0;
    return Math.max(
      0,
      all.findIndex((_, k) => subject(k) === player.choices[by]),
    );
  };
  /** The indices of the first and the last stop of the tour to which stop k belongs. @param {number} k */
  const ends = (k) => {
    let [from, to] = [k, k];
    while (from > 0 && subject(from - 1) === subject(k)) from--;
    while (to < last && subject(to + 1) === subject(k)) to++;
    return [from, to];
  };
  const start = link(/** @type {HTMLAnchorElement} */ (player.need("head").querySelector("a.on")), () => {
    visit(first());
    title.focus();
  });
  start.hidden = false; // the page's previous player may have hidden the button during its tour
  const stops = [...part.querySelectorAll(".tour > ol > li")];
  stops.forEach((stop, k) =>
    link(/** @type {HTMLAnchorElement} */ (stop.querySelector("a")), () => {
      visit(k);
      title.focus({ preventScroll: true });
    }),
  );

  /** Open the stop that the page's address names. If nothing has the focus yet, the card gets it.
   * @param {number} k */
  const open = (k) => {
    visit(k, true);
    if (document.activeElement === document.body) title.focus({ preventScroll: true });
  };
  const asking = () => current >= 0 && Boolean(all[current].question) && !shown.has(current);
  const visit = (/** @type {number} */ k, linked = false) => {
    const before = current;
    current = k;
    const [from, to] = ends(k);
    count.textContent = `${k - from + 1} of ${to - from + 1}`;
    title.innerHTML = all[k].title;
    back.disabled = k === from;
    on.textContent = asking() ? "Show me" : k < to ? "Next" : "Done";
    card.hidden = false;
    start.hidden = true;
    stops.forEach((stop, i) => stop.classList.toggle("current", i === k));
    if (!asking()) return reveal(null, linked);
    const held = card.contains(document.activeElement);
    words.replaceChildren(question(all[k], answer));
    // otherwise the focus would stay on the button "Next", now "Show me", and the same key pressed again
    // would skip the question
    if (held) title.focus({ preventScroll: true });
    near();
    if (k > from && before !== k - 1) player.go(all[k - 1].state, linked);
  };
  const reveal = (/** @type {Node | null} */ judged, linked = false) => {
    words.innerHTML = all[current].html;
    const to = ends(current)[1];
    if (current === last) words.append(...onwards(part));
    else if (current === to) {
      const next = h("button", { type: "button", onclick: () => visit(to + 1) });
      next.innerHTML = all[to + 1].title;
      words.append(h("p", {}, "The next tour begins with ", next));
    }
    if (judged) words.prepend(judged);
    on.textContent = current < to ? "Next" : "Done";
    near();
    player.go(all[current].state, linked);
  };
  const near = () => {
    // scroll so that card and figure are both visible
    card.scrollTop = 0;
    for (const each of [player.need("stage"), card]) each.scrollIntoView({ block: "nearest" });
  };
  /** End the question of the present stop, and show its text and state, with a verdict on the reader's
   * answer. @param {number | null} guess the index of the reader's answer; null if the reader skips the
   * question */
  const show = (guess) => {
    // the button with the focus disappears, so the button "Next" gets it
    const held = words.contains(document.activeElement);
    shown.add(current);
    reveal(verdict(all[current], guess));
    if (held) on.focus();
  };
  /**
   * Answer the question of the present stop, if one is asked.
   * @param {number} guess the index of the answer @returns {boolean} whether there was such an answer
   */
  const answer = (guess) => {
    const open = asking() && guess < all[current].answers.length;
    if (open) show(guess);
    return open;
  };
  const step = (/** @type {number} */ by) => {
    if (by > 0 && asking()) show(null);
    else if (current < 0 && by > 0) visit(first());
    else if (current + by >= 0 && current + by <= last) visit(current + by);
    else if (by > 0) /** @type {HTMLElement | null} */ (card.querySelector("a.onwards"))?.click();
  };
  const close = () => {
    current = -1;
    card.hidden = true;
    start.hidden = false;
    start.focus();
    stops.forEach((stop) => stop.classList.remove("current"));
  };

  const guidedTour = {
    card,
    last,
    visit,
    open,
    answer,
    next: () => step(1),
    back: () => step(-1),
    get current() {
      return current;
    },
  };
  player.part("controls")?.prepend(card);
  return guidedTour;
}

/** Whether a click on a link opens another tab or window, because a modifier key is held.
 * @param {MouseEvent} event */
export const opensElsewhere = ({ ctrlKey, metaKey, shiftKey }) => ctrlKey || metaKey || shiftKey;

/** Let a click on a link call `act` instead of following the link, unless the click opens another tab or
 * window. @param {HTMLAnchorElement} a @param {() => void} act */
function link(a, act) {
  a.addEventListener("click", (event) => {
    if (opensElsewhere(event)) return;
    event.preventDefault();
    act();
  });
  return a;
}
