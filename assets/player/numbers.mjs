// @ts-check
/** Fill the part of the page for numbers: readouts, the table of the followed (selected) point at every
 * stage, and tables of fixed words and numbers. */

import { cloudOf, cloudStages, marksOf, measures, residual, sizeOf, unpack } from "../engine/engine.mjs";
import { accuracy, semiAxes } from "../engine/geometry.mjs";
import { patterns, pieces } from "../engine/gates.mjs";
import { circleSheets, layersOf } from "../engine/sheets.mjs";
import { tables } from "./overview.mjs";
import { follows } from "../engine/hands.mjs";
import { certificateOf, fatesOf, layer, measured } from "../engine/measures.mjs";
import { h, scrolling, tableRow } from "../dom.mjs";
import { marked } from "./letters.mjs";
/** @import { Cloud, Readout, Recipe, Stages } from "../engine/engine.mjs" */
/** @import { CountReadout, LettersReadout } from "../engine/recipe.d.ts" */
/** @import { Certificate } from "../engine/selection.mjs" */
/** @import { Player } from "./player.mjs" */

const TABLE_HEADS = {
  mean: "mean μ",
  std: "σ",
  norm: "‖·‖",
  angle: "angle to 1",
  distance: "distance to its place if ε = 0",
};

/** The kinds of readouts that depend on the stages of clouds, but not on the progress between them. */
const STAGE_READOUTS = ["residual", "lengths", "zeros", "patterns", "ranks", "pieces"];

// a smaller distance between two clouds that should coincide counts as a rounding error
const DISTANCE_TOLERANCE = 1e-6;

const MANY_ZEROS = 3; // with this many decimals or more, small numbers are not shown as zeros only
const ROUNDING_ERROR = 1e-12; // but numbers below this are shown as “≈ 0”

const THOUSANDS = /(?<=\d)(?=(\d{3})+$)/g; // the places of the commas in a whole number

const SUPERSCRIPTS = Object.fromEntries([..."0123456789-"].map((c, i) => [c, [..."⁰¹²³⁴⁵⁶⁷⁸⁹⁻"][i]]));

/** Typeset the numbers in a text: 2e-05 becomes 2·10⁻⁵, -1 becomes −1, -0.00 becomes 0.00. A minus sign is
 * typeset only at the beginning of the text, or in an exponent. @param {string} text */
export const typeset = (text) =>
  text
    .replace(
      /(?<![\w.])(\d+(?:\.\d+)?)e([+-]\d+)/g,
      (_, x, power) => `${x}·10${[...String(Number(power))].map((c) => SUPERSCRIPTS[c]).join("")}`,
    )
    .replace(/^-(?=0(\.0*)?$)/, "")
    .replace(/^-(?=\d)/, "−");

/** Format a number as text; NaN as "—". All limits below are for the absolute value.
 *
 * If `digits` is null: three digits after the decimal point, or five below 0.01; "0" below 0.00005; a power
 * of ten from 1e5 on.
 *
 * Otherwise `digits` is the number of digits after the decimal point. From 1,000 on, or from 100 on if
 * `digits` is 2 or more, the number is a whole number with commas; from 1e6 on it has a power of ten. If
 * `digits` is at least MANY_ZEROS, no small number is shown as zeros only: it gets a power of ten or, below
 * ROUNDING_ERROR, becomes "≈ 0"; 0 itself becomes "0". @param {number} x @param {number | null} [digits] */
export function fixed(x, digits = null) {
  if (Number.isNaN(x)) return "—";
  const size = Math.abs(x);
  if (digits !== null && digits >= MANY_ZEROS && Number(x.toFixed(digits)) === 0) {
    if (size < ROUNDING_ERROR) return size ? "≈ 0" : "0";
    return typeset(x.toExponential(1));
  }
  if (digits !== null) {
    if (size >= 1e6) return typeset(x.toExponential(1));
    const whole = Number(size.toFixed(digits)) >= (digits > 1 ? 100 : 1000);
    return typeset(whole ? x.toFixed(0).replace(THOUSANDS, ",") : x.toFixed(digits));
  }
  return size < 5e-5 ? "0" : typeset(size >= 1e5 ? x.toExponential(2) : x.toFixed(size < 0.01 ? 5 : 3));
}

/** The rows of the recipe's table about the followed (selected) point, one for each stage. A row is a list of
 * texts: the point's coordinates or measures (mean, norm …) at the stage. @param {Recipe} recipe with a table
 * @param {Record<string, number>} params @param {Stages} all the stages of all clouds @param {number}
 * followed the index of the point */
export function rows(recipe, params, all, followed) {
  const {
    cloud: name,
    ideal,
    first,
    columns,
  } = /** @type {NonNullable<typeof recipe.table>} */ (recipe.table);
  const cloud = cloudOf(recipe, name);
  const [n, d] = cloud.points.shape;
  const i = Math.min(followed, n - 1);
  const point = Float64Array.from(unpack(cloud.points).subarray(i * d, (i + 1) * d));
  const stages = all[name].map((x) => x.subarray((i * x.length) / n, ((i + 1) * x.length) / n));
  const surface = ideal && cloudStages(cloudOf(recipe, ideal), params, all, { at: point, index: i });
  const wide = Math.max(...stages.map((stage) => stage.length));
  return stages.map((stage, k) => {
    const measured = /** @type {Record<string, number>} */ (/** @type {unknown} */ (measures(stage)));
    measured.distance = surface ? residual(stage, surface[k], 1) : NaN;
    /** @type {Record<string, string>} */ const units = {
      angle: Number.isNaN(measured.angle) ? "" : "°",
      distance: !k && first ? ` (${first})` : "",
    };
    return columns.flatMap((c) =>
      c === "components"
        ? Array.from({ length: wide }, (_, j) => (j < stage.length ? fixed(stage[j]) : ""))
        : [(units[c] === "°" ? measured[c].toFixed(1) : fixed(measured[c])) + (units[c] ?? "")],
    );
  });
}

/**
 * Fill the part of the page for numbers with tables, and with all readouts that no other part shows.
 * @param {HTMLElement} part @param {Recipe} recipe @param {Player} player
 * @returns {() => void} a function that shows the player's state
 */
export function numbers(part, recipe, player) {
  const rest = counting(recipe).slice(1);
  const words = rest.map((r) => teller(r, recipe, player));
  const readouts = words.map(() => h("p", { className: "readout" }));
  const table = recipe.table ? stageTable(recipe, player) : null;
  const scrolls = () => [...part.querySelectorAll(".overview-table .scroll")];
  const places = scrolls().map(({ scrollTop, scrollLeft }) => ({ top: scrollTop, left: scrollLeft }));
  part.replaceChildren(
    ...readouts,
    ...tables(recipe.overviews, player),
    ...(recipe.facts ? [facts(recipe.facts)] : []),
    ...(table ? [scrolling("The followed point in numbers", table.element)] : []),
  );
  scrolls().forEach((element, i) => element.scrollTo(places[i] ?? { top: 0 }));
  return () => {
    words.forEach((word, i) => {
      const text = `${rest[i].label}: ${word()}`;
      if (readouts[i].textContent !== text) readouts[i].textContent = text;
    });
    table?.show();
  };
}

/** Create the table of the followed (selected) point at every stage, and a function `show` that updates it to
 * the player's state. @param {Recipe} recipe @param {Player} player */
function stageTable(recipe, player) {
  const caption = h("caption");
  const body = h("tbody");
  const others = marksOf(recipe).some(follows);
  /** @type {Stages | undefined} */ let known;
  let followed = -1;
  let marked = -1;
  return {
    element: h("table", {}, caption, heads(recipe, player.stages), body),
    show() {
      const current = Math.round(player.progress);
      if (player.stages !== known || player.followed !== followed) {
        known = player.stages;
        followed = player.followed;
        marked = -1;
        caption.textContent = others
          ? `Point ${followed}, stage by stage. To follow another, click it, or press “,” or “.”.`
          : "The followed point, stage by stage.";
        const stages = rows(recipe, player.params, known, followed);
        body.replaceChildren(...stages.map((cells, k) => tableRow(recipe.stages[k], cells)));
      }
      if (current === marked) return;
      marked = current;
      [...body.rows].forEach((row, k) => row.classList.toggle("current", k === current));
    },
  };
}

/** The readouts of a recipe, except texts of letters (kind "letters"). @param {Recipe} recipe */
const counting = ({ readouts }) => readouts.filter(({ kind }) => kind !== "letters");

/** Show the first readout of a recipe, except texts of letters, in a corner of its first view.
 * @param {Player} player @returns {(() => void)[]} functions to call when the state has changed */
export function headline(player) {
  const place = player.need("views").querySelector(".headline");
  const label = h("span");
  const value = h("b");
  place?.replaceChildren(label, value);
  if (!place || !counting(player.recipe).length) return [];
  /** @type {Readout | undefined} */ let known;
  let word = () => "";
  return [
    () => {
      const { recipe } = player;
      const [r] = counting(recipe); // a training in progress brings new readouts
      if (r !== known) {
        known = r;
        label.textContent = r.label;
        word = teller(r, recipe, player);
      }
      const text = word();
      if (value.textContent !== text) value.textContent = text;
    },
  ];
}

/** Return a function that returns the present text of a readout. For STAGE_READOUTS the text is cached until
 * the stages change. @param {Readout} r the readout @param {Recipe} recipe @param {Player} player */
function teller(r, recipe, player) {
  const word = () => readout(r, recipe, player);
  if (!STAGE_READOUTS.includes(r.kind)) return word;
  /** @type {Stages | undefined} */ let stages;
  let words = "";
  return () => {
    if (player.stages !== stages) {
      stages = player.stages;
      words = word();
    }
    return words;
  };
}

/**
 * The present text of a readout. @param {Readout} r the readout @param {Recipe} recipe @param {Player} player
 * @returns {string}
 */
export function readout(r, recipe, player) {
  if (r.kind === "count" || r.kind === "letters") return counted(r, player);
  const name = r.kind === "residual" ? r.a : r.kind === "fate" ? r.keys : r.cloud;
  const n = sizeOf(recipe, name);
  if (r.kind === "residual") {
    const far = residual(ended(player, r.a), ended(player, r.b), n, r.coordinates ?? undefined);
    if (!far || far >= 1e-3) return fixed(far);
    const small = typeset(far.toExponential(1));
    return far >= DISTANCE_TOLERANCE ? small : `≈ 0 (${small})`;
  }
  if (r.kind === "lengths")
    return semiAxes(ended(player, name), n)
      .map((axis) => fixed(Math.hypot(...axis)))
      .join(", ");
  if (r.kind === "fate")
    return fate(certificateOf(name, player.moment), player.at[name], n, Math.min(player.followed, n - 1));
  if (r.kind === "zeros") return zeros(player.stages[name][r.stage], n);
  if (r.kind === "patterns") return signs(patterns(player.stages[name][r.stage], n));
  if (r.kind === "ranks") return byRank(fatesOf(r, name, player.moment), n);
  if (r.kind === "pieces")
    return String(pieces(layer(cloudOf(recipe, name), r.before, r.basis, player.params), r.radius));
  if (r.kind === "sheets") return sheets(cloudOf(recipe, name), player);
  const values = measured(r.row, name, player.moment);
  if (r.kind === "accuracy")
    return `${(100 * accuracy(values, unpack(r.classes), r.threshold)).toFixed(1)} %`;
  if (r.kind === "largest") return fixed(Math.max(...values), r.digits) + r.unit;
  const x =
    r.kind === "mean"
      ? values.reduce((s, v) => s + v, 0) / n
      : values[Math.min(n - 1, r.index === "followed" ? player.followed : r.index)];
  return fixed(x, r.digits) + r.unit;
}

const KEY_TOLERANCE = 1e-6; // keys that are nearer than this share of a key's length count as the same

/** The text of the readout “fate”, which says whether some query gives key k of n the highest score. If some
 * query does, the text says by how much the best query of length 1 puts the key ahead. Otherwise it says why
 * no query does, and the largest attention weight that the key can get. @param {Certificate} found the
 * certificate of key k @param {Float64Array} keys the coordinates of the n keys, one key after the other
 * @param {number} n @param {number} k */
function fate({ margin, largest, weights }, keys, n, k) {
  if (n === 1) return "can win: there is no other";
  if (largest === 1) return `can win: the best query of length 1 puts it ${fixed(margin)} ahead`;
  const d = keys.length / n;
  const key = keys.subarray(k * d, (k + 1) * d);
  const near = KEY_TOLERANCE * Math.hypot(...key);
  const others = Array.from(weights.keys()).filter((i) => weights[i] >= 5e-4);
  const many = others.length;
  const copies = others.every((i) => Math.hypot(...key.map((x, j) => keys[i * d + j] - x)) <= near);
  const why = !copies
    ? `it is an average of ${many} other${many === 1 ? "" : "s"}`
    : many === 1
      ? "another key is in the same place"
      : `${many} other keys are in the same place`;
  return `never wins: ${why}; gets at most ${(100 * largest).toFixed(1)} %`;
}

/** The text with the number of sheets into which the norms up to the present stage fold the unit circle
 * (sheets.mjs), and the upper bound 2^n of this number for n norms. @param {Cloud} cloud whose steps are
 * linear maps and norms in turn @param {Player} player */
function sheets(cloud, { progress, params }) {
  const norms = Math.min(Math.floor(progress), cloud.steps.length) >> 1;
  return `${circleSheets(layersOf(cloud, norms, params))}, at most ${2 ** norms}`;
}

/** The text with the number of coordinates of a point that are exactly 0, on average over n points, such as
 * "3.2 of 8". @param {Float64Array} points @param {number} n */
function zeros(points, n) {
  let count = 0;
  for (let i = 0; i < points.length; i++) if (points[i] === 0) count++;
  return `${fixed(count / n)} of ${points.length / n}`;
}

/** The text that gives for each rank, from 0 to `highest`, the percentage of the n points whose linear piece
 * (gates.mjs) has this rank. @param {{ranks: Uint8Array, highest: number}} found the result of `fatesOf`
 * @param {number} n */
function byRank({ ranks, highest }, n) {
  const counts = new Array(highest + 1).fill(0);
  for (let i = 0; i < ranks.length; i++) counts[ranks[i]]++;
  return counts.map((count, rank) => `${rank}: ${((100 * count) / n).toFixed(1)} %`).join(", ");
}

/** The text about the sign patterns of points: the number of different patterns, and the entropy of their
 * frequencies. @param {{count: number, bits: number}} found the result of `patterns` (gates.mjs) */
const signs = ({ count, bits }) => `${count}, entropy ${bits.toFixed(2)} bits`;

/** The text with the number of points that a readout counts or marks, such as "12 of 200".
 * @param {CountReadout | LettersReadout} r the readout @param {Player} player */
function counted(r, player) {
  const { moment } = player;
  return `${marked(r, moment).length} of ${sizeOf(moment.recipe, r.cloud)}`;
}

/**
 * Create the element of a table of fixed words and numbers, which do not depend on the player's state. A row
 * with an `about` gets an explanation that opens on a click. @param {{title: string, columns: string[], rows:
 * string[][], abouts: string[]}} table
 */
function facts({ title, columns, rows, abouts }) {
  const name = (/** @type {string} */ head, /** @type {string | undefined} */ about) =>
    about ? h("details", {}, h("summary", {}, head), about) : head;
  return scrolling(
    title,
    h(
      "table",
      { className: "facts" },
      h("caption", {}, title),
      ...(columns.some(Boolean)
        ? [h("thead", {}, h("tr", {}, ...columns.map((c) => (c ? h("th", { scope: "col" }, c) : h("td")))))]
        : []),
      h("tbody", {}, ...rows.map(([head, ...rest], k) => tableRow(name(head, abouts[k]), rest.map(typeset)))),
    ),
  );
}

/** The points of a cloud at its last stage. @param {Player} player @param {string} cloud */
const ended = (player, cloud) => /** @type {Float64Array} */ (player.stages[cloud].at(-1));

/** Create the head of the followed point's table: a name for each column. The column "components" becomes one
 * column for each coordinate. @param {Recipe} recipe @param {Stages} stages */
function heads(recipe, stages) {
  const { cloud, columns } = /** @type {NonNullable<typeof recipe.table>} */ (recipe.table);
  const d = Math.max(...stages[cloud].map((stage) => stage.length)) / sizeOf(recipe, cloud);
  const names = columns.flatMap((c) =>
    c === "components"
      ? Array.from(
          { length: d },
          (_, j) => `x${String(j + 1).replace(/\d/g, (k) => "₀₁₂₃₄₅₆₇₈₉"[Number(k)])}`,
        )
      : [/** @type {Record<string, string>} */ (TABLE_HEADS)[c]],
  );
  return h(
    "thead",
    {},
    h("tr", {}, h("th", { scope: "col" }, "stage"), ...names.map((n) => h("th", { scope: "col" }, n))),
  );
}
