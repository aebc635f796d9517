// @ts-check
/**
 * Show a figure in a notebook: the browser's part of the widget `normscape.Figure`. The figure's properties
 * are those of an anywidget model. There is no server: the widget's state contains the figure's HTML and a
 * recipe, and the notebook's kernel makes other recipes on request.
 *
 * @typedef {{styles: string, plotly: string, unpack: (packed: DataView) => Promise<any>}} Code the objects
 *   that normscape/figure.js has loaded together with this module: CSS text, the address of Plotly's script,
 *   and a function that unpacks compressed JSON
 */

import { shared } from "../globals.mjs";
import { h } from "../dom.mjs";
import { supply } from "../player/source.mjs";
import { Figure } from "./figure.mjs";
import { recipe } from "./kernel_recipe.mjs";
import { PROPERTIES } from "./properties.mjs";
/** @import { Giver } from "./figure.mjs" */
/** @import { Model } from "./kernel_recipe.mjs" */

const MIN_LIGHT_TEXT = 0.5; // if the text is brighter than this (0 black, 1 white), the page counts as dark

/** Show a widget's figure in an element; returns a function that closes the figure. @param {Model} model the
 * widget's properties @param {HTMLElement} place the element @param {Code} code the styles and scripts that
 * the figure needs @returns {() => void} */
export function show(model, place, code) {
  shared.normscape ??= { players: [] };
  const host = h("div", {});
  const deaf = (/** @type {Event} */ event) => event.stopPropagation();
  host.dataset.lmSuppressShortcuts = "true"; // JupyterLab then leaves key presses in the figure to the figure
  for (const kind of ["keydown", "keyup", "keypress"]) host.addEventListener(kind, deaf);
  place.replaceChildren(host);
  let reporting = false; // true while the properties of a report are set one by one
  const figure = new Figure(host, kernel(model, code), (news) => {
    reporting = true;
    for (const [name, value] of Object.entries(news)) model.set(name, value);
    reporting = false;
    model.save_changes();
  });
  const heard = PROPERTIES.map((name) => `change:${name}`).join(" ");
  const tell = () =>
    reporting || figure.show(Object.fromEntries(PROPERTIES.map((name) => [name, model.get(name)])));
  model.on(heard, tell);
  tell();
  return () => {
    model.off(heard, tell);
    figure.close();
  };
}

/**
 * The source (`Giver`, see figure.mjs) of a figure's data in a notebook: HTML and recipes come from the
 * widget's state and from the kernel. @param {Model} model the widget's properties @param {Code} code the
 * styles and scripts that the figure needs @returns {Giver}
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

/** The theme of the surrounding page, "dark" or "light", judged by the brightness of its text: bright text
 * means a dark page. @param {HTMLElement} host the figure's element */
function scheme({ parentElement }) {
  const [red, green, blue] = (
    getComputedStyle(/** @type {HTMLElement} */ (parentElement)).color.match(/[\d.]+/g) ?? ["0", "0", "0"]
  ).map(Number);
  return (0.299 * red + 0.587 * green + 0.114 * blue) / 255 > MIN_LIGHT_TEXT ? "dark" : "light";
}
