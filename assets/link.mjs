// @ts-check
/**
 * The link of a scene: choices, parameters, progress, camera, followed point and theme in the query. Only what differs
 * from the defaults is written. Reading collects what is wrong in words; nothing is clamped.
 *
 * A scene's own page has two more, which make a teacher's link: `controls`, the names of those that are shown (0 for none),
 * and `tour`, the stop to open at.
 *
 * @typedef {{choices: Record<string, string>, params: Record<string, number>, progress: number,
 *   camera: {eye: number[], center: number[]} | null, follow: number, theme: string, controls: string[] | null}} State
 */

import { cloudOf } from "./engine.mjs";

const THEMES = ["auto", "light", "dark"];

/** Choices, and everything else, of a query, and what is wrong with it. @param {string} search @param {Record<string, any>} choices the defaults, by name */
export function split(search, choices) {
  // without a prototype: "constructor" and "__proto__" are names like any other
  const chosen = /** @type {Record<string, string>} */ (Object.create(null)), rest = /** @type {Record<string, string>} */ (Object.create(null));
  const query = new URLSearchParams(search), twice = new Set([...query.keys()].filter((name) => query.getAll(name).length > 1));
  for (const [name, text] of query) (Object.hasOwn(choices, name) ? chosen : rest)[name] = text;
  return { chosen, rest, wrong: [...twice].map((name) => `${name} is given more than once`) };
}

const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i; // as in components/state.py
const NEAREST = 1e-3; // of the eye to what it looks at, in scene units

/** @param {string} text @returns {number} NaN unless the text is a plain number */
const number = (text) => (PLAIN.test(text) ? Number(text) : NaN);

/**
 * The state that the rest of a query asks for, over the recipe's own, and what was wrong with it.
 * @param {Record<string, string>} rest @param {any} recipe
 */
export function read(rest, recipe) {
  const wrong = /** @type {string[]} */ ([]);
  const state = { params: defaults(recipe), progress: recipe.progress, follow: recipe.follow, theme: "",
    camera: /** @type {State["camera"]} */ (null), controls: /** @type {State["controls"]} */ (null), tour: 0 };
  const last = recipe.stages.length - 1;
  for (const [name, text] of Object.entries(rest)) {
    const parameter = recipe.parameters.find((/** @type {any} */ p) => p.name === name), x = number(text);
    if (parameter) {
      if (within(parameter, x)) state.params[name] = x;
      else wrong.push(`${name}=${text} is not a number from ${parameter.min} to ${parameter.max}`);
    } else if (name === "progress") {
      if (x >= 0 && x <= last) state.progress = x; else wrong.push(`progress=${text} is not a number from 0 to ${last}`);
    } else if (name === "follow") {
      const count = pointCount(recipe);
      if (Number.isInteger(x) && x >= 0 && x < count) state.follow = x; else wrong.push(`follow=${text} is not the number of a point, 0 to ${count - 1}`);
    } else if (name === "theme") {
      if (THEMES.includes(text)) state.theme = text; else wrong.push(`theme=${text} is not one of ${THEMES.join(", ")}`);
    } else if (name === "camera") {
      const camera = parseCamera(text);
      if (camera) state.camera = camera; else wrong.push(`camera=${text} is not three numbers, or six, between −100 and 100`);
    } else if (name === "controls") {
      const unknown = text.split(",").filter((each) => !controlNames(recipe).includes(each));
      if (text === "0" || text === "1") state.controls = text === "0" ? [] : null;
      else if (unknown.length) wrong.push(`controls: the scene has no control ${unknown[0]}`); else state.controls = text.split(",");
    } else if (name === "tour") {
      const stops = recipe.text?.tour.length ?? 0;
      if (Number.isInteger(x) && x >= 1 && x <= stops) state.tour = x; else wrong.push(`tour=${text} is not the number of a stop, 1 to ${stops}`);
    } else wrong.push(`this scene has nothing called ${name}`);
  }
  return { state, wrong };
}

/** A value a parameter can have; ε may also be exactly 0 where its slider ends there. @param {any} parameter @param {number} x */
export const within = (parameter, x) => (x >= parameter.min && x <= parameter.max) || (parameter.scale === "log" && x === 0);

/** @param {any} recipe @returns {Record<string, number>} */
export const defaults = (recipe) => Object.fromEntries(recipe.parameters.map((/** @type {any} */ p) => [p.name, p.value]));

/** The names that `controls` may have; that of a result stands for what computes it. @param {any} recipe @returns {string[]} */
const controlNames = (recipe) => [...recipe.choices, ...recipe.parameters, { name: "progress" }].map(({ name }) => name);

/** How many points there are to follow. @param {any} recipe @returns {number} */
export const pointCount = (recipe) =>
  cloudOf(recipe, recipe.table?.cloud ?? recipe.clouds[0].name).points.shape[0];

/** "x,y,z" is the eye, "x,y,z,u,v,w" the eye and what it looks at. @param {string} text @returns {State["camera"]} */
export function parseCamera(text) {
  const numbers = text.split(",").map(number);
  const eye = numbers.slice(0, 3), center = numbers.length === 6 ? numbers.slice(3) : [0, 0, 0];
  const fine = [3, 6].includes(numbers.length) && numbers.every((v) => Math.abs(v) <= 100)
    && Math.hypot(...eye.map((v, i) => v - center[i])) >= NEAREST;
  return fine ? { eye, center } : null;
}

/** @param {number} x */
const short = (x) => String(Number(x.toPrecision(5)));

/** @param {State} state @param {Record<string, any>} choices the defaults @param {any} recipe @returns {string} the query, with its ? */
export function write(state, choices, recipe) {
  const query = new URLSearchParams();
  for (const [name, usual] of Object.entries(choices)) {
    const value = state.choices[name];
    if (value !== undefined && String(value) !== String(usual)) query.set(name, String(value));
  }
  for (const p of recipe.parameters) {
    const x = state.params[p.name];
    // five digits of the largest value may be more than it
    if (x !== p.value) query.set(p.name, within(p, Number(short(x))) ? short(x) : String(x));
  }
  if (state.progress !== recipe.progress) query.set("progress", short(state.progress));
  if (state.follow !== recipe.follow) query.set("follow", String(state.follow));
  if (state.camera) {
    const { eye, center } = state.camera, numbers = center.some((c) => Math.abs(c) > 1e-4) ? [...eye, ...center] : eye;
    query.set("camera", numbers.map((v) => String(Number(v.toFixed(4)))).join(","));
  }
  if (state.theme) query.set("theme", state.theme);
  if (state.controls) query.set("controls", state.controls.join(",") || "0");
  const text = query.toString().replaceAll("%2C", ",");
  return text && `?${text}`;
}
