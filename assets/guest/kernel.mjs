// @ts-check
/**
 * A figure in a notebook: `normscape.Figure`, synchronised with a widget's state. There is no server: the
 * widget has the figure's element and a recipe, and its kernel makes other recipes.
 *
 * @typedef {import("./made.mjs").Model} Model
 * @typedef {{styles: string, plotly: string, unpack: (packed: DataView) => Promise<any>}} Code what comes
 *   with this module: styles, the address of the drawing library, and a function that unpacks recipes
 */

import { shared } from "../globals.mjs";
import { h } from "../dom.mjs";
import { supply } from "../player/source.mjs";
import { NAMES } from "./binding.mjs";
import { Figure } from "./figure.mjs";
import { recipe } from "./made.mjs";

const MIN_LIGHT_TEXT = 0.5; // brightness of text, from 0 to 1, above which the page is dark

/** Show a widget's figure in an element; returns a function that removes it. @param {Model} model
 * @param {HTMLElement} place @param {Code} code @returns {() => void} */
export function show(model, place, code) {
  shared.normscape ??= { players: [] };
  const host = h("div", {});
  const deaf = (/** @type {Event} */ event) => event.stopPropagation();
  host.dataset.lmSuppressShortcuts = "true"; // JupyterLab's
  for (const kind of ["keydown", "keyup", "keypress"]) host.addEventListener(kind, deaf);
  place.replaceChildren(host);
  const figure = new Figure(host, kernel(model, code), (news) => {
    for (const [name, value] of Object.entries(news)) model.set(name, value);
    model.save_changes();
  });
  const own = ["slug", "controls", "theme", ...NAMES];
  const heard = own.map((name) => `change:${name}`).join(" ");
  const tell = () => figure.show(Object.fromEntries(own.map((name) => [name, model.get(name)])));
  model.on(heard, tell);
  tell();
  return () => {
    model.off(heard, tell);
    figure.close();
  };
}

/**
 * The `Giver` of a figure in a notebook: its data comes from the widget and its kernel.
 * @param {Model} model @param {Code} code @returns {import("./figure.mjs").Giver}
 */
function kernel(model, code) {
  let asked = new URLSearchParams();
  return {
    styles: () => ({ sheet: h("style", {}, code.styles), there: Promise.resolve() }),
    figure: async (_, search) => {
      asked = search;
      return { html: await code.unpack(model.get("_element")) };
    },
    dress: (root) => {
      const controls = asked.get("controls");
      asked.delete("controls");
      root.dataset.query = `?${asked}`;
      if (controls !== null) root.dataset.controls = controls === "0" ? "" : controls;
      supply(root, (query, signal) => recipe(model, code.unpack, query, signal));
      return code.plotly;
    },
    scheme,
  };
}

/** The theme of the page, by the brightness of its text. @param {HTMLElement} host */
function scheme({ parentElement }) {
  const [red, green, blue] = (
    getComputedStyle(/** @type {HTMLElement} */ (parentElement)).color.match(/[\d.]+/g) ?? ["0", "0", "0"]
  ).map(Number);
  return (0.299 * red + 0.587 * green + 0.114 * blue) / 255 > MIN_LIGHT_TEXT ? "dark" : "light";
}
