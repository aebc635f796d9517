// @ts-check
/** Find the controls and numbers that a stop of the tour is about. While presenting, the page shows only
 * these. */

import { plain as withoutTags } from "./describe.mjs";
/** @import { Choice, Parameter, Recipe } from "../engine/engine.mjs" */
/** @import { Player } from "./player.mjs" */
/** @import { Stop } from "./tour.mjs" */

const MAX_CONTROLS = 3; // they fit into one row of the caption; the sliders of a vector count as one

/** Convert a label's HTML to plain text, with subscript digits as ordinary ones: "γ₁" becomes "γ1".
 * @param {string} html */
const plain = (html) => withoutTags(html).normalize("NFKC");

/** The set of the bold texts and the formulas in a stop's HTML, as plain texts; they name controls.
 * @param {string} html */
const names = (html) => new Set((html.match(/<strong>.*?<\/strong>|<math.*?<\/math>/gs) ?? []).map(plain));

/** The names by which a text can refer to a control: its label and its symbol; for a slider of a vector, also
 * the vector's name. If a label or a vector's name has two words, such as "shift b", each of the words is a
 * name, too. @param {Choice | Parameter} control */
function called(control) {
  const { symbol = "", vector = false, group = "" } = /** @type {Partial<Parameter>} */ (control);
  const labels = [control.label, ...(vector ? [group] : [])].map(plain);
  const words = labels.map((label) => label.split(" ")).filter((all) => all.length === 2);
  return [...labels, ...words.flat(), symbol].filter(Boolean);
}

/** The names of the controls that a stop of the tour is about: the controls that its text names, and those
 * whose values differ between this stop and the stop before. At the first stop only the text counts. The
 * clock, quiet parameters and results of trainings are left out. If there are more than MAX_CONTROLS, the
 * controls that the text names take precedence. A vector counts as one control, but all its sliders are in
 * the result. The result is in the order of the recipe. @param {Stop} stop @param {Stop | null} before the
 * stop before; null at the first stop @param {Recipe} recipe @param {Record<string, string>} usual the
 * defaults of the choices */
export function mentioned(stop, before, recipe, usual) {
  const said = names(stop.html);
  const controls = [
    ...recipe.choices
      .filter(({ kind }) => kind !== "result")
      .map((choice) => ({ control: choice, key: choice.name, value: String(usual[choice.name]) })),
    ...recipe.parameters
      .filter(({ name, quiet }) => name !== recipe.clock && !quiet)
      .map((p) => ({ control: p, key: p.vector ? p.group : p.name, value: String(p.value) })),
  ];
  const named = controls.filter(({ control }) => called(control).some((name) => said.has(name)));
  const changed = controls.filter(({ control: { name }, value }) => {
    const [now, then] = [stop, before].map((each) => each?.state[name] ?? value);
    return before && now !== then && Number(now) !== Number(then);
  });
  const keys = [...new Set([...named, ...changed].map(({ key }) => key))].slice(0, MAX_CONTROLS);
  return controls.filter(({ key }) => keys.includes(key)).map(({ control }) => control.name);
}

/** Whether a stop's text mentions the numbers under the picture (`numbers`), and whether it mentions a table
 * (`table`). @param {Stop} stop */
export const numbersMentioned = ({ html }) => ({
  numbers: html.includes("under the picture"),
  table: /\btable\b/.test(html),
});

/** Return a function to call after a change of the player's state. It gives the class "mentioned" to the
 * controls that the tour's present stop is about. If the stop mentions the numbers or a table, the player's
 * element gets a class, too. @param {Player} player */
export function marksMentioned(player) {
  const { recipe, root, usual } = player;
  const controls = /** @type {HTMLElement[]} */ ([...root.querySelectorAll(".controls [data-control]")]);
  const more = /** @type {HTMLDetailsElement | null} */ (player.part("more"));
  /** @type {Stop | null | undefined} */ let known;
  return () => {
    const stop = player.tour?.stop ?? null;
    if (stop === known) return;
    known = stop;
    const shown = stop ? mentioned(stop, player.tour?.before ?? null, recipe, usual) : [];
    for (const each of controls)
      each.classList.toggle("mentioned", shown.includes(each.dataset.control ?? ""));
    more?.classList.toggle("mentioned", Boolean(more.querySelector(".mentioned")));
    const { numbers, table } = stop ? numbersMentioned(stop) : { numbers: false, table: false };
    root.classList.toggle("with-numbers", numbers);
    root.classList.toggle("with-table", table);
  };
}
