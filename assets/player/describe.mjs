// @ts-check
/** Describe the present state of a scene in sentences, which screen readers announce. */

import { h, readable } from "../dom.mjs";
import { marksOf, onlyOf, sizeOf } from "../engine/engine.mjs";
import { changes, pointCount } from "./link.mjs";
import { fixed, readout } from "./numbers.mjs";
import { home } from "../painter/views.mjs";
/** @import { Readout, Recipe, View } from "../engine/engine.mjs" */
/** @import { Player } from "./player.mjs" */

const TAG = /<\/?[a-z][^>]*>/gi;
const ENTITY = /&(?:#(\d{1,6})|#x([\da-f]{1,5})|([a-z]+));/gi;
/** @type {Record<string, string>} */
const ENTITIES = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Convert a label's HTML to plain text, without tags and with entities decoded. The HTML is never parsed as
 * a document, because it may contain names from readers' files, which can be any text. @param {string} html
 */
export const plain = (html) =>
  html
    .replace(TAG, "")
    .replace(ENTITY, (whole, ten, sixteen, name) =>
      name ? (ENTITIES[name] ?? whole) : String.fromCodePoint(ten ? Number(ten) : parseInt(sixteen, 16)),
    )
    .trim();

/** The sentences that describe the present state: scene and stage; points that coincide; settings that differ
 * from the defaults; the followed (selected) point; readouts; the camera. @param {Player} player @returns
 * {string[]} */
function sentences(player) {
  const { recipe } = player;
  return [
    `${recipe.title}: ${where(player)}.`,
    together(player),
    moved(player),
    followed(player),
    ...recipe.readouts.map((r) => `${sentence(plain(r.label))}: ${reading(r, player)}.`),
    cameraSentence(player),
  ].filter(Boolean);
}

/** The sentence about points that coincide in the first view, when the figure is at rest; "" if there are
 * none. @param {Player} player */
function together({ crowds, recipe }) {
  const counts = crowds?.[0]?.map(({ count }) => count) ?? [];
  const [most] = counts;
  const title = plain(recipe.views[0].title);
  if (!counts.length) return "";
  const seen = title ? `In “${title}”` : "In the picture";
  if (counts.length === 1) return `${seen} ${most} points share one place.`;
  return `${seen} points share ${counts.length} places, at most ${most} points per place.`;
}

/** The sentence about the camera; "" without a 3D view. @param {Player} player */
function cameraSentence({ recipe, camera }) {
  const view = recipe.views.find((v) => v.dims === 3);
  return view ? `Seen from ${side(camera ?? home(view))}.` : "";
}

const SIDES = [
  "the right",
  "the back right",
  "the back",
  "the back left",
  "the left",
  "the front left",
  "the front",
  "the front right",
];
// the camera's angles above or below the horizontal plane beyond which its position is called “straight
// above”, “high” and “slightly above”
const ABOVE_DEGREES = 80;
const HIGH_DEGREES = 40;
const LEVEL_DEGREES = 10;

/** The camera's position in words, such as "the front right, slightly above". The third axis points up; seen
 * from the front, the first axis points to the right.
 * @param {{eye: number[], center: number[]}} camera */
export function side({ eye, center }) {
  const [x, y, z] = eye.map((e, i) => e - center[i]);
  const up = (Math.atan2(z, Math.hypot(x, y)) * 180) / Math.PI;
  const word = up > 0 ? "above" : "below";
  const steep = Math.abs(up);
  if (steep > ABOVE_DEGREES) return `straight ${word}`;
  const around = SIDES[(Math.round(Math.atan2(y, x) / (Math.PI / 4)) + 8) % 8];
  return steep < LEVEL_DEGREES ? around : `${around}, ${steep > HIGH_DEGREES ? "high" : "slightly"} ${word}`;
}

/** The present value of a readout in words; for an accuracy also how many points are classified correctly.
 * @param {Readout} r the readout @param {Player} player */
function reading(r, player) {
  const words = readout(r, player.recipe, player);
  const of = r.kind === "accuracy" && r.classes.shape[0];
  return of ? `${Math.round((parseFloat(words) * of) / 100)} of ${of} points, ${words}` : words;
}

/** Words that give the number of points and their stage, such as "50 points, at the stage x (0 of 3)" or "50
 * points, between the stages x and y (0.5 of 3)"; with a single stage, just "50 points". If only some of the
 * points are drawn as dots, the number of dots comes first: "20 of 50 points". @param {Pick<Player, "recipe"
 * | "progress" | "last">} player */
export function where({ recipe, progress, last }) {
  const points = pointCount(recipe);
  const dots = Math.min(dotCount(recipe), points);
  const k = Math.round(progress);
  const some = dots < points ? `${dots} of ` : "";
  const counted = `${some}${points} ${points === 1 ? "point" : "points"}`;
  if (!last) return counted;
  if (Math.abs(progress - k) < 1e-3)
    return `${counted}, at the stage ${plain(recipe.stages[k])} (${k} of ${last})`;
  const [from, to] = [Math.floor(progress), Math.ceil(progress)].map((stage) => plain(recipe.stages[stage]));
  return `${counted}, between the stages ${from} and ${to} (${progress.toFixed(1)} of ${last})`;
}

/** The number of points that `Points` marks draw of one cloud: the cloud whose points can be followed
 * (selected). Marks that draw only the followed point are ignored. Infinity if no `Points` mark is left, or
 * if one that is left has no fixed list of points. @param {Recipe} recipe */
function dotCount(recipe) {
  const cloud = recipe.table?.cloud ?? recipe.clouds[0].name;
  const marks = marksOf(recipe).filter((m) => m.mark === "Points" && m.cloud === cloud);
  const lists = marks.map(onlyOf).filter((only) => only !== "followed");
  return lists.length && lists.every(Array.isArray) ? new Set(lists.flat()).size : Infinity;
}

/** The sentence about parameters, and choices of kind "one" (one option of a list), that differ from their
 * defaults; "" if none does. @param {Player} player */
function moved({ recipe, usual, params }) {
  const changed = changes(recipe.chosen, usual);
  const chosen = recipe.choices.filter((c) => c.kind === "one" && c.name in changed);
  const set = recipe.parameters.filter((p) => params[p.name] !== p.value);
  // also choices and parameters whose controls the page does not offer
  const words = [
    ...chosen.map((c) => `${plain(c.label)}: ${plain(c.options[changed[c.name]] ?? changed[c.name])}`),
    ...set.map((p) => `${plain(p.label)} = ${readable(params[p.name]).replace("-", "−")}`),
  ];
  return words.length ? `${words.join(", ")}.` : "";
}

/** The sentence about the present coordinates of the followed (selected) point; "" if the recipe has no
 * table. @param {Player} player */
function followed({ recipe, at, followed }) {
  if (!recipe.table) return "";
  const points = at[recipe.table.cloud];
  const n = sizeOf(recipe, recipe.table.cloud);
  const d = points.length / n;
  const i = Math.min(followed, n - 1);
  const numbers = Array.from(points.subarray(i * d, (i + 1) * d), (x) => fixed(x));
  return `${n > 1 ? `Point ${i}` : "The point"} is at (${numbers.join(", ")}).`;
}

/** A text with a capital first letter. A symbol, such as σ or a single letter x, stays as it is.
 * @param {string} words */
export const sentence = (words) => words.replace(/^[a-z](?=[a-z])/, (letter) => letter.toUpperCase());

const descriptionId = (/** @type {Player} */ { slug }) => `state-${slug}`;

/** Present the element of a view to screen readers as an image. The image's name is the title of the view or,
 * if the view has none, the title of the recipe; the image's description is the live region of `description`.
 * @param {Element} element @param {View} view @param {Player} player */
export function labelFigure(element, view, player) {
  element.role = "img";
  element.ariaLabel = plain(view.title) || player.recipe.title;
  element.setAttribute("aria-describedby", descriptionId(player));
}

/** Add the live region that describes the state in sentences. Screen readers announce the sentences that have
 * changed. @param {Player} player @returns {(ran: boolean) => void} a function to call at rest, which updates
 * the sentences. ran: whether the clock or a move between stages has run since the last call; if so, the
 * first sentence is announced even if it has not changed */
export function description(player) {
  const id = descriptionId(player);
  const stage = player.need("stage");
  const region = h("p", { className: "told unseen", id, "aria-live": "polite" });
  for (const old of stage.querySelectorAll(":scope > .told")) old.remove();
  stage.append(region);
  return function tell(ran) {
    if (ran) region.firstElementChild?.replaceWith(h("span"));
    say(region, sentences(player));
  };
}

/**
 * Show sentences in a live region, each in an element of its own. Unchanged sentences are not touched, so
 * that they are not announced again.
 * @param {HTMLElement} line the live region @param {string[]} words the sentences
 */
function say(line, words) {
  while (line.childElementCount > words.length) line.lastElementChild?.remove();
  words.forEach((text, i) => {
    const place = line.children[i] ?? line.appendChild(h("span"));
    if (place.textContent !== `${text} `) place.textContent = `${text} `;
  });
}
