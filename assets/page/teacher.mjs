// @ts-check
/** Make a teacher's link, which opens the figure in its present state or at a stop of the tour, with only the
 * controls that the teacher has selected. */

import { h } from "../dom.mjs";
import { write } from "../player/link.mjs";
import { resting } from "../player/resting.mjs";
/** @import { Recipe } from "../engine/engine.mjs" */
/** @import { Player } from "../player/player.mjs" */

/** List the check boxes for a recipe's controls: each has a label and the names of the controls that it
 * switches. All choices of kind "result" share the box "training". @param {Recipe} recipe
 * @returns {{label: string, names: string[]}[]} */
function boxes(recipe) {
  const results = recipe.choices.filter((c) => c.kind === "result").map((c) => c.name);
  const boxEach = (/** @type {{label: string, name: string}[]} */ controls) =>
    controls.map(({ label, name }) => ({ label, names: [name] }));
  return [
    { label: "stages, play and tools", names: ["progress"] },
    ...boxEach(recipe.choices.filter((c) => c.kind !== "result")),
    ...boxEach(recipe.parameters.filter((p) => !p.quiet)),
    ...(results.length ? [{ label: "training", names: results }] : []),
  ];
}

/** Create the part of the share dialog that makes a teacher's link: check boxes for the controls, a list of
 * tour stops, and the link, updated at each change. @param {Player} player @param {HTMLElement} copyable an
 * element that shows the link with a button that copies it @returns {HTMLElement} */
export function teaching(player, copyable) {
  const field = /** @type {HTMLTextAreaElement} */ (copyable.querySelector("textarea"));
  const checks = boxes(player.recipe).map(({ label, names }) => ({
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
    ...stops.map(({ title }, k) =>
      h("option", { value: k + 1, selected: k === now, innerHTML: `${k + 1}. ${title}` }),
    ),
  );
  const show = () => {
    const checked = checks.filter(({ box }) => box.checked);
    const controls = checked.length < checks.length ? checked.flatMap(({ names }) => names) : null;
    const state = { ...resting(player), controls, tour: Number(stop.value) };
    const query = write(state, player.usual, player.recipe);
    field.value = new URL(query || player.path, location.href).href;
  };
  show();
  return h(
    "details",
    { className: "teacher", onchange: show },
    h("summary", {}, "For a class: a link with selected controls"),
    copyable,
    h(
      "fieldset",
      {},
      h("legend", {}, "Controls to show"),
      ...checks.map(({ box, label }) => h("label", {}, box, h("span", { innerHTML: label }))),
    ),
    h("p", {}, h("label", { htmlFor: "teacher-stop" }, "It opens "), stop),
  );
}
