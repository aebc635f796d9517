// @ts-check
/** The text of a scene, and its guided tour: a card beside the picture, stop by stop. A stop sets parameters, progress and
 * camera, and asks to look at one thing. */

import { h } from "./controls.mjs";

/** @param {HTMLElement} part @param {{html: string, tour: {title: string, state: Record<string, string>, html: string}[], questions: string}} text
 * @param {any} player */
export function tour(part, text, player) {
  const last = text.tour.length - 1;
  let current = -1;
  const count = h("p", { className: "count" }), title = h("h2", { tabIndex: -1 }), words = h("div", { className: "words" });
  const button = (/** @type {string} */ label, /** @type {() => void} */ onclick, className = "") => h("button", { type: "button", className, onclick }, label);
  const back = button("Back", () => visit(current - 1)), on = button("Next", () => (current < last ? visit(current + 1) : close()), "on");
  const card = h("section", { className: "guide", hidden: true, ariaLabel: "Tour" }, count, title, words,
    h("div", { className: "steps" }, back, on, h("span", { className: "space" }), button("Close", () => close())));
  const start = button("Take the tour", () => { visit(0); title.focus(); }, "on");
  const stops = text.tour.map((stop, k) => h("li", {}, button(stop.title, () => {
    visit(k);
    player.part("stage").scrollIntoView({ block: "nearest" });
    title.focus({ preventScroll: true });
  })));

  const visit = (/** @type {number} */ k) => {
    current = k;
    count.textContent = `${k + 1} of ${last + 1}`;
    title.innerHTML = text.tour[k].title;
    words.innerHTML = text.tour[k].html;
    back.disabled = k === 0;
    on.textContent = k < last ? "Next" : "Done";
    card.hidden = false;
    start.hidden = true;
    stops.forEach((stop, i) => stop.classList.toggle("current", i === k));
    player.go(text.tour[k].state);
  };
  const close = () => {
    card.hidden = true;
    start.hidden = false;
    start.focus();
    stops.forEach((stop) => stop.classList.remove("current"));
  };

  player.part("controls")?.prepend(card);
  player.part("head")?.append(start);
  part.replaceChildren(h("section", { className: "tour" }, h("h2", {}, "A tour"), h("ol", {}, ...stops)),
    h("div", { className: "prose", innerHTML: text.html }), h("section", { className: "questions", innerHTML: text.questions }));
}
