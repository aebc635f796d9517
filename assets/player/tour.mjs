// @ts-check
/**
 * The text of a scene, and its guided tour: a card beside the figure, stop by stop. A stop sets parameters,
 * progress and camera, and asks the reader to look at one thing. Some stops first ask for a prediction: until
 * then the figure shows the stop before.
 *
 * @typedef {{title: string, state: Record<string, string>, html: string, question: string, answers: string[],
 *   right: number}} Stop
 */

import { h } from "../dom.mjs";
import { question, verdict } from "./guess.mjs";

/** @typedef {ReturnType<typeof tour>} Tour */

/** At the end of a tour: the sentence that leads to the next scene, and a link into its tour.
 * @param {HTMLElement} part the text of the scene */
function onwards(part) {
  const bridge = part.querySelector(".onwards .bridge");
  const next = /** @type {HTMLAnchorElement | null} */ (part.querySelector(".onwards a.next[data-to]"));
  if (!bridge || !next) return [];
  return [
    h("p", { innerHTML: bridge.innerHTML }),
    h("p", {}, h("a", { className: "onwards", href: `${next.href}?tour=1` }, next.textContent ?? "")),
  ];
}

/** The tour of a player; the page's links to its stops go there directly. @param {HTMLElement} part
 * @param {Stop[]} all @param {import("./player.mjs").Player} player */
export function tour(part, all, player) {
  const last = all.length - 1;
  const shown = /** @type {Set<number>} */ (new Set()); // stops whose question is past
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
  /** What a stop is about: its value of the choice that divides the stops into tours, if there is one.
   * @param {number} k */
  const subject = (k) => {
    const { by } = start.dataset;
    return by ? (all[k].state[by] ?? player.usual[by]) : "";
  };
  /** The stop at which the tour starts: the first about what is shown. */
  const first = () => {
    const { by } = start.dataset;
    if (!by) return 0;
    return Math.max(
      0,
      all.findIndex((_, k) => subject(k) === player.choices[by]),
    );
  };
  /** The first and the last stop of the tour to which a stop belongs. @param {number} k */
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
  start.hidden = false; // the previous player may have been in its tour
  const stops = [...part.querySelectorAll(".tour > ol > li")];
  stops.forEach((stop, k) =>
    link(/** @type {HTMLAnchorElement} */ (stop.querySelector("a")), () => {
      visit(k);
      title.focus({ preventScroll: true });
    }),
  );

  /** Open the stop that a link names; the focus moves to the card if the reader has not pressed anything.
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
    // the answers come next, and the same key must not skip them
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
    // card and figure are visible together
    card.scrollTop = 0;
    for (const each of [player.need("stage"), card]) each.scrollIntoView({ block: "nearest" });
  };
  /** Show the answer to the question of the present stop. @param {number | null} guess */
  const show = (guess) => {
    // the focused button disappears, so the focus moves on
    const held = words.contains(document.activeElement);
    shown.add(current);
    reveal(verdict(all[current], guess));
    if (held) on.focus();
  };
  /**
   * Answer the question of the present stop, if one is asked.
   * @param {number} guess @returns {boolean} whether there was something to guess
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

/** Whether a click on a link opens another tab or window. @param {MouseEvent} event */
export const opensElsewhere = ({ ctrlKey, metaKey, shiftKey }) => ctrlKey || metaKey || shiftKey;

/** Let a link of the page act here, unless it opens elsewhere. @param {HTMLAnchorElement} a
 * @param {() => void} act */
function link(a, act) {
  a.addEventListener("click", (event) => {
    if (opensElsewhere(event)) return;
    event.preventDefault();
    act();
  });
  return a;
}
