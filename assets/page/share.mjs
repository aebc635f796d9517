// @ts-check
/** What one takes along: the link, the line for another page, and files of what is on the screen. */

import { h } from "../dom.mjs";
import { canFilm, film } from "./film.mjs";
import { teaching } from "./teacher.mjs";

const HEIGHT = 720; // pixels of an embed, until it tells its own height

/** @param {string} text */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/** The line that another page pastes. @param {import("../player/player.mjs").Player} player @param {string} query of the state, with its ? */
function snippet(player, query) {
  const source = new URL(player.root.dataset.embed + query, location.href).href;
  return `<iframe src="${escaped(source)}" title="${escaped(player.recipe.title)}" width="100%" height="${HEIGHT}" loading="lazy"`
    + ` allow="fullscreen" style="border: 0"></iframe>`;
}

/** A text with a button that copies it; where that is not allowed, it is selected for the hand. @param {string} label @param {string} text @param {HTMLElement} said */
function taken(label, text, said) {
  const field = h("textarea", { readOnly: true, rows: text.length > 120 ? 4 : 2, value: text, "aria-label": label, onfocus: () => field.select() });
  const copy = async () => {
    const copied = await (navigator.clipboard?.writeText(field.value) ?? Promise.reject()).then(() => true, () => false);
    if (!copied) field.focus();
    said.textContent = copied ? `${label} copied.` : `${label} selected: press Ctrl+C, or ⌘C.`;
  };
  return h("div", { className: "taken" }, h("h3", {}, label), field, h("button", { type: "button", onclick: copy }, `Copy ${label.toLowerCase()}`));
}

/** @param {import("../player/player.mjs").Player} player */
export function share(player) {
  const { embed, still } = player.root.dataset, { query } = player, said = h("p", { className: "said", role: "status" });
  const file = (/** @type {string} */ label, /** @type {() => void} */ onclick) => h("button", { type: "button", onclick }, label);
  const files = /** @type {HTMLElement[]} */ ([file("PNG", () => player.save())]);
  if (still) files.push(h("a", { href: player.picture(), download: `${player.slug}.svg` }, "SVG"));
  if (canFilm(player)) files.push(file("WebM, a run of the progress", () => { dialog.close(); film(player); }));
  const dialog = h("dialog", { className: "help share", "aria-labelledby": "share-title", onclose: () => dialog.remove() },
    h("h2", { id: "share-title" }, "Share what is on the screen"), taken("Link", new URL(query || player.path, location.href).href, said),
    ...(embed ? [taken("Embed", snippet(player, query), said)] : []),
    teaching(player, taken("Teacher's link", "", said)),
    h("h3", {}, "Save as"), h("div", { className: "files" }, ...files),
    said, h("button", { type: "button", onclick: () => dialog.close() }, "Close"));
  document.body.append(dialog);
  dialog.showModal();
}
