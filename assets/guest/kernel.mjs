// @ts-check
/**
 * A figure in a notebook, whose state is that of a widget: `normscape.Figure`. There is no server: the widget has the figure's
 * element and a recipe, and its kernel makes others.
 *
 * @typedef {import("../player/source.mjs").Answer} Answer
 * @typedef {{key: string, recipe: Answer["recipe"]}} Made a recipe, by the choices that are no defaults, as a query
 * @typedef {{get: (name: string) => any, set: (name: string, value: unknown) => void, save_changes: () => void, send: (content: object) => void,
 *   on: (event: string, hear: (...news: any[]) => void) => void, off: (event: string, hear: (...news: any[]) => void) => void}} Model of
 *   anywidget
 * @typedef {{styles: string, plotly: string, unpack: (packed: DataView) => Promise<any>}} Code what came with this module: styles, the
 *   address of the drawing library, and what opens that which is packed
 */

import { shared } from "../page/globals.mjs";
import { h } from "../player/controls.mjs";
import { supply } from "../player/source.mjs";
import { NAMES } from "./binding.mjs";
import { Figure } from "./figure.mjs";

const PATIENCE = 120_000; // milliseconds: a kernel answers when its cells have run
const SILENT = "the kernel does not answer";
const BRIGHT = 0.5; // of a letter's colour, from 0 to 1: on a dark page

/** The figure of a widget in an element; the end of it. @param {Model} model @param {HTMLElement} place @param {Code} code @returns {() => void} */
export function show(model, place, code) {
  shared.normscape ??= { players: [] };
  const host = h("div", {}), deaf = (/** @type {Event} */ event) => event.stopPropagation();
  host.dataset.lmSuppressShortcuts = "true"; // JupyterLab's
  for (const kind of ["keydown", "keyup", "keypress"]) host.addEventListener(kind, deaf);
  place.replaceChildren(host);
  const figure = new Figure(host, kernel(model, code), (news) => {
    for (const [name, value] of Object.entries(news)) model.set(name, value);
    model.save_changes();
  });
  const own = ["slug", "controls", "theme", ...NAMES], heard = own.map((name) => `change:${name}`).join(" ");
  const tell = () => figure.show(Object.fromEntries(own.map((name) => [name, model.get(name)])));
  model.on(heard, tell);
  tell();
  return () => { model.off(heard, tell); figure.close(); };
}

/** @param {Model} model @param {Code} code @returns {import("./figure.mjs").Giver} */
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
      supply(root, (query, signal) => recipe(model, code, query, signal));
      return code.plotly;
    },
    scheme,
  };
}

/** The recipe that the widget has, or that its kernel makes now. @param {Model} model @param {Code} code @param {string} query
 * @param {AbortSignal} signal @returns {Promise<Omit<Answer, "choices">>} */
async function recipe(model, code, query, signal) {
  const known = async () => {
    const { key, recipe } = /** @type {Made} */ (await code.unpack(model.get("_made")));
    return key === query ? { recipe } : null;
  };
  return (await known()) ?? new Promise((go) => {
    const done = (/** @type {Omit<Answer, "choices">} */ answer) => {
      model.off("change:_made", look);
      model.off("msg:custom", hear);
      go(answer);
    };
    const look = async () => { const found = await known(); if (found) done(found); };
    const hear = (/** @type {{refused?: string, key?: string}} */ { refused, key }) => { if (refused && key === query) done({ refused }); };
    model.on("change:_made", look);
    model.on("msg:custom", hear);
    AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]).addEventListener("abort", () => done({ refused: SILENT }), { once: true });
    model.send({ make: query });
  });
}

/** The theme of any page: light letters stand on a dark one. @param {HTMLElement} host */
function scheme({ parentElement }) {
  const [red, green, blue] = (getComputedStyle(/** @type {HTMLElement} */ (parentElement)).color.match(/[\d.]+/g) ?? ["0", "0", "0"]).map(Number);
  return (0.299 * red + 0.587 * green + 0.114 * blue) / 255 > BRIGHT ? "dark" : "light";
}
