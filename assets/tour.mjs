// @ts-check
/** The text of a scene, with its guided tour: each stop sets parameters, progress and camera, and asks to look at one thing. */

import { h } from "./controls.mjs";

/** @param {HTMLElement} part @param {{html: string, tour: {title: string, state: Record<string, string>, html: string}[], questions: string}} text
 * @param {any} player */
export function tour(part, text, player) {
  let current = -1;
  const stops = text.tour.map(({ title, html }, k) => {
    const open = h("button", { type: "button", onclick: () => visit(k) }, h("span", { className: "count" }, String(k + 1)), title);
    return h("li", {}, open, h("div", { className: "words", innerHTML: html }));
  });
  const on = h("button", { type: "button", className: "on", onclick: () => visit((current + 1) % stops.length) }, "Start the tour");
  const visit = (/** @type {number} */ k) => {
    current = k;
    stops.forEach((stop, i) => stop.classList.toggle("current", i === k));
    on.textContent = k + 1 < stops.length ? `Next: ${text.tour[k + 1].title}` : "Start again";
    player.go(text.tour[k].state);
  };
  const section = h("section", { className: "tour" }, h("h2", {}, "A tour"), h("ol", {}, ...stops), on);
  part.replaceChildren(section, h("div", { className: "prose", innerHTML: text.html }), h("section", { className: "questions", innerHTML: text.questions }));
  section.hidden = !stops.length;
}
