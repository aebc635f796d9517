// @ts-check
/** Numbers beside the picture: a point at every stage, and how far two clouds lie apart. */

import { cloudStages, measures, residual, unpack } from "./engine.mjs";
import { h } from "./controls.mjs";

const HEADS = { mean: "mean μ", std: "σ", norm: "‖·‖", angle: "angle to 1", distance: "to the surface" };

/** @param {number} x */
const fixed = (x) => (Number.isNaN(x) ? "—" : Math.abs(x) < 5e-5 ? "0" : Math.abs(x) >= 1e5 ? x.toExponential(2) : x.toFixed(Math.abs(x) < 0.01 ? 5 : 3)).replace("-", "−");

/** A point of the recipe's own at every stage, as rows of texts. @param {any} recipe @param {Record<string, number>} params @param {number} followed */
export function rows(recipe, params, followed) {
  const { cloud: name, ideal, columns } = recipe.table;
  const find = (/** @type {string} */ n) => recipe.clouds.find((/** @type {any} */ c) => c.name === n);
  const cloud = find(name), [n, d] = cloud.points.shape, i = Math.min(followed, n - 1);
  const point = Float64Array.from(unpack(cloud.points).subarray(i * d, (i + 1) * d));
  const stages = cloudStages(cloud, params, point), surface = ideal && cloudStages(find(ideal), params, point);
  return stages.map((stage, k) => {
    const all = /** @type {any} */ (measures(stage));
    all.distance = surface ? residual(stage, surface[k], 1) : NaN;
    return columns.flatMap((/** @type {string} */ c) => c === "components" ? all.components.map(fixed)
      : [c === "angle" && !Number.isNaN(all.angle) ? `${all.angle.toFixed(1)}°` : fixed(all[c])]);
  });
}

/** @param {HTMLElement} part @param {any} recipe @returns {(player: any) => void} shows the player's state */
export function numbers(part, recipe) {
  if (!recipe.table && !recipe.residuals.length) { part.replaceChildren(); return () => {}; }
  /** @type {HTMLElement[]} */ const readouts = recipe.residuals.map((/** @type {any} */ r) => h("output", { className: "readout" }));
  const caption = h("caption"), body = h("tbody");
  const table = recipe.table && h("table", {}, caption, heads(recipe), body);
  part.replaceChildren(...readouts, ...(table ? [h("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "The followed point in numbers" }, table)] : []));
  let known = "";
  return (player) => {
    recipe.residuals.forEach((/** @type {any} */ r, /** @type {number} */ i) => {
      const n = recipe.clouds.find((/** @type {any} */ c) => c.name === r.a).points.shape[0];
      const words = `${r.label}: ${residual(player.stages[r.a].at(-1), player.stages[r.b].at(-1), n).toExponential(1)}`;
      if (readouts[i].textContent !== words) readouts[i].textContent = words;
    });
    if (!table) return;
    const key = JSON.stringify([player.params, player.followed]);
    if (key !== known) {
      known = key;
      caption.textContent = `Point ${player.followed}, stage by stage. Click another point to follow it.`;
      body.replaceChildren(...rows(recipe, player.params, player.followed).map((cells, k) =>
        h("tr", {}, h("th", { scope: "row" }, recipe.stages[k]), ...cells.map((/** @type {string} */ c) => h("td", {}, c)))));
    }
    const current = Math.round(player.progress);
    [...body.rows].forEach((row, k) => row.classList.toggle("current", k === current));
  };
}

/** @param {any} recipe */
function heads(recipe) {
  const d = recipe.clouds.find((/** @type {any} */ c) => c.name === recipe.table.cloud).points.shape[1];
  const names = recipe.table.columns.flatMap((/** @type {string} */ c) => c === "components"
    ? Array.from({ length: d }, (_, j) => `x${"₁₂₃₄₅₆₇₈"[j]}`) : [/** @type {any} */ (HEADS)[c]]);
  return h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "stage"), ...names.map((/** @type {string} */ n) => h("th", { scope: "col" }, n))));
}
