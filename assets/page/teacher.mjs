// @ts-check
/** A teacher's link: the present state with only the chosen controls, opened at a stop of the tour. */

import { h } from "../dom.mjs";
import { write } from "../player/link.mjs";

/** The controls of each check box, under its label. The controls that compute results share a box.
 * @param {import("../engine/engine.mjs").Recipe} recipe @returns {{label: string, names: string[]}[]} */
function boxes(recipe) {
  const results = recipe.choices.filter((c) => c.kind === "result").map((c) => c.name);
  const own = (/** @type {{label: string, name: string}[]} */ all) =>
    all.map(({ label, name }) => ({ label, names: [name] }));
  return [
    { label: "stages, play and tools", names: ["progress"] },
    ...own(recipe.choices.filter((c) => c.kind !== "result")),
    ...own(recipe.parameters),
    ...(results.length ? [{ label: "training", names: results }] : []),
  ];
}

/** The part of the share dialog that makes a teacher's link.
 * @param {import("../player/player.mjs").Player} player @param {HTMLElement} taken an element that shows the
 * link with a button that copies it @returns {HTMLElement} */
export function teaching(player, taken) {
  const field = /** @type {HTMLTextAreaElement} */ (taken.querySelector("textarea"));
  const all = boxes(player.recipe).map(({ label, names }) => ({
    names,
    label,
    box: h("input", { type: "checkbox", checked: names.some((name) => player.offers(name)) }),
  }));
  const stops = player.recipe.text?.tour ?? [];
  const now = player.tour?.current ?? -1;
  const stop = h(
    "select",
    { id: "teacher-stop" },
    h("option", { value: "" }, "in its present state"),
    ...stops.map((/** @type {{title: string}} */ { title }, /** @type {number} */ k) =>
      h("option", { value: k + 1, selected: k === now, innerHTML: `${k + 1}. ${title}` }),
    ),
  );
  const show = () => {
    const shown = all.filter(({ box }) => box.checked);
    const controls = shown.length < all.length ? shown.flatMap(({ names }) => names) : null;
    const query = write({ ...player.state, controls, tour: Number(stop.value) }, player.usual, player.recipe);
    field.value = new URL(query || player.path, location.href).href;
  };
  show();
  return h(
    "details",
    { className: "teacher", onchange: show },
    h("summary", {}, "For a class: a link with selected controls"),
    taken,
    h(
      "fieldset",
      {},
      h("legend", {}, "Controls to show"),
      ...all.map(({ box, label }) => h("label", {}, box, h("span", { innerHTML: label }))),
    ),
    h("p", {}, h("label", { htmlFor: "teacher-stop" }, "It opens "), stop),
  );
}
