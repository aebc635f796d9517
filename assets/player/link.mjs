// @ts-check
/**
 * Read and write the link of a scene. Its query has the state of the figure, namely choices, parameters,
 * progress (the position between stages), camera, followed (selected) point and theme. A teacher's link also
 * has `controls`, the names of visible controls (0 for none, 1 for all), and `tour`, the stop of the tour to
 * open, counted from 1. Only differences from the defaults are written. When a link is read, a value that is
 * not allowed is reported in words, never clamped.
 *
 * components/language/link.py is the same in Python: both accept the same queries, and write identical ones.
 *
 * @typedef {{choices: Record<string, string>, params: Record<string, number>, progress: number, camera: {eye:
 *   number[], center: number[]} | null, follow: number, theme: string, controls: string[] | null, tour:
 *   number}} State
 */

import { sizeOf } from "../engine/engine.mjs";
import { MAX_CAMERA_COORDINATE, MIN_CAMERA_DISTANCE } from "../engine/perspective.mjs";
/** @import { Parameter, Recipe } from "../engine/engine.mjs" */

const THEMES = ["auto", "light", "dark"];
const READER_NAMES = ["progress", "follow", "theme", "camera", "controls"]; // names that every scene has
const MAX_QUOTED_CHARACTERS = 80; // length of a wrong value or name in an error message

// parameters that other sites add to links to track readers, such as utm_source and fbclid; the same in
// components/language/link.py
const TRACKING = /^(utm_.*|[a-z]*clid)$/;

/** Split a query into the values of choices (`chosen`) and all other values (`rest`), by name, and error
 * messages about names that are given more than once (`wrong`). Parameters by which other sites track
 * readers, such as utm_source, are left out. @param {string} search the query @param {Record<string, string |
 * number>} choices the defaults of the scene's choices, by name */
export function split(search, choices) {
  // without a prototype: "constructor" and "__proto__" are ordinary names here
  const chosen = /** @type {Record<string, string>} */ (Object.create(null));
  const rest = /** @type {Record<string, string>} */ (Object.create(null));
  const query = new URLSearchParams(
    [...new URLSearchParams(search)].filter(([name]) => !TRACKING.test(name)),
  );
  const twice = new Set([...query.keys()].filter((name) => query.getAll(name).length > 1));
  for (const [name, text] of query) (Object.hasOwn(choices, name) ? chosen : rest)[name] = text;
  return { chosen, rest, wrong: [...twice].map((name) => `${name} is given more than once`) };
}

/** The entries of `choices` whose values differ from those in `others`, such as the defaults; the values are
 * converted to texts. @param {Record<string, unknown>} choices @param {Record<string, unknown>} others
 * @returns {Record<string, string>} */
export const changes = (choices, others) =>
  Object.fromEntries(Object.entries(texts(choices)).filter(([name, text]) => text !== String(others[name])));

const DECIMAL_NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i; // the same in components/language/link.py

/**
 * Parse a plain decimal number.
 * @param {string} text @returns {number} NaN unless the text is a plain number
 */
const number = (text) => (DECIMAL_NUMBER.test(text) ? Number(text) : NaN);

/** Read a query: returns the `state` that it asks for, with the recipe's defaults for values that it does not
 * set, and a list of error messages (`wrong`) about values that are not allowed. @param {Record<string,
 * string>} rest the query without choices @param {Recipe} recipe */
export function read(rest, recipe) {
  const wrong = /** @type {string[]} */ ([]);
  const state = {
    params: defaults(recipe),
    progress: recipe.progress,
    follow: recipe.follow,
    theme: "",
    camera: /** @type {State["camera"]} */ (null),
    controls: /** @type {State["controls"]} */ (null),
    tour: 0,
  };
  const last = recipe.stages.length - 1;
  const stops = recipe.text?.tour.length ?? 0;
  for (const [name, text] of Object.entries(rest)) {
    const parameter = recipe.parameters.find((p) => p.name === name);
    const x = number(text);
    const quoted = shortened(text);
    if (parameter) {
      if (within(parameter, x)) state.params[name] = x;
      else {
        const also = parameter.scale === "log" ? "0 or " : "";
        wrong.push(`${name}=${quoted} is not ${also}a number from ${parameter.min} to ${parameter.max}`);
      }
    } else if (name === "progress") {
      if (x >= 0 && x <= last) state.progress = x;
      else wrong.push(`progress=${quoted} is not a number from 0 to ${last}`);
    } else if (name === "follow") {
      const count = pointCount(recipe);
      if (Number.isInteger(x) && x >= 0 && x < count) state.follow = x;
      else wrong.push(`follow=${quoted} is not the number of a point, 0 to ${count - 1}`);
    } else if (name === "theme") {
      if (THEMES.includes(text)) state.theme = text;
      else wrong.push(`theme=${quoted} is not one of ${THEMES.join(", ")}`);
    } else if (name === "camera") {
      const camera = parseCamera(text);
      if (camera) state.camera = camera;
      else {
        const far = `the eye at least ${MIN_CAMERA_DISTANCE} from what it looks at (0,0,0 if there are three)`;
        wrong.push(`camera=${quoted} is not three numbers, or six, between −100 and 100, with ${far}`);
      }
    } else if (name === "controls") {
      const unknown = text.split(",").filter((each) => !controlNames(recipe).includes(each));
      if (text === "0" || text === "1") state.controls = text === "0" ? [] : null;
      else if (unknown.length) wrong.push(`controls: the scene has no control ${shortened(unknown[0])}`);
      else state.controls = text.split(",");
    } else if (name === "tour" && stops) {
      if (Number.isInteger(x) && x >= 1 && x <= stops) state.tour = x;
      else wrong.push(`tour=${quoted} is not the number of a stop, 1 to ${stops}`);
    } else wrong.push(`this scene has nothing called ${shortened(name)}`);
  }
  return { state, wrong };
}

/** Shorten a text for an error message: of a text of more than MAX_QUOTED_CHARACTERS, only the beginning is
 * kept, followed by “…”. @param {string} text */
const shortened = (text) =>
  text.length > MAX_QUOTED_CHARACTERS ? `${text.slice(0, MAX_QUOTED_CHARACTERS)}…` : text;

/** The error messages about values in a state that are not allowed. The value `tour`, and names that the
 * scene does not have, are ignored. @param {Record<string, string>} rest the state without choices
 * @param {Recipe} recipe */
export function wrongValues(rest, recipe) {
  const known = new Set([...recipe.parameters.map(({ name }) => name), ...READER_NAMES]);
  const named = Object.entries(rest).filter(([name]) => known.has(name));
  return read(Object.fromEntries(named), recipe).wrong;
}

/** The values of choices as texts, as a link has them. @param {Record<string, unknown>} chosen
 * @returns {Record<string, string>} */
export const texts = (chosen) =>
  Object.fromEntries(Object.entries(chosen).map(([name, value]) => [name, String(value)]));

/** The error message about a choice whose text is too long for a link, with the same wording as the server's;
 * "" if every text fits. The browser must check this itself, because a request with a too long address would
 * not reach the server. @param {Record<string, string>} changed the changed choices @param {{name: string,
 * longest?: number}[]} choices longest: the largest number of characters @returns {string} */
export function tooLong(changed, choices) {
  for (const { name, longest } of choices) {
    const length = Object.hasOwn(changed, name) ? [...String(changed[name])].length : 0;
    if (longest !== undefined && length > longest)
      return `${name} has ${length} characters, at most ${longest} fit in a link`;
  }
  return "";
}

/** Whether a parameter can have the value x: within its range, or, if its slider is logarithmic, exactly 0.
 * @param {Parameter} parameter @param {number} x */
export const within = (parameter, x) =>
  (x >= parameter.min && x <= parameter.max) || (parameter.scale === "log" && x === 0);

/**
 * The default values of a recipe's parameters, by name. @param {Recipe} recipe @returns {Record<string,
 * number>}
 */
export const defaults = (recipe) => Object.fromEntries(recipe.parameters.map((p) => [p.name, p.value]));

/** The names that `controls` may contain: of choices, of parameters, and "progress". The name of a choice
 * of kind "result" stands for the training panel. @param {Recipe} recipe @returns {string[]} */
const controlNames = (recipe) =>
  [...recipe.choices, ...recipe.parameters, { name: "progress" }].map(({ name }) => name);

/** The number of points that can be followed (selected): the size of the table's cloud or, without a table,
 * of the recipe's first cloud. @param {Recipe} recipe @returns {number} */
export const pointCount = (recipe) => sizeOf(recipe, recipe.table?.cloud ?? recipe.clouds[0].name);

/** Parse a camera. "x,y,z" is an eye that looks at the origin; "x,y,z,u,v,w" is an eye at (x, y, z) that
 * looks at (u, v, w). Null if the text is not a camera that a link can have. @param {string} text @returns
 * {State["camera"]} */
function parseCamera(text) {
  const numbers = text.split(",").map(number);
  return isCamera(numbers)
    ? { eye: numbers.slice(0, 3), center: numbers.length === 6 ? numbers.slice(3) : [0, 0, 0] }
    : null;
}

/** Whether numbers are a camera that a link can have: three or six numbers, whose absolute values are at most
 * MAX_CAMERA_COORDINATE, with the eye at least MIN_CAMERA_DISTANCE away from the point at which it looks.
 * @param {number[]} numbers */
function isCamera(numbers) {
  const [x, y, z] = numbers.slice(0, 3).map((v, i) => v - (numbers[3 + i] ?? 0));
  return (
    [3, 6].includes(numbers.length) &&
    numbers.every((v) => Math.abs(v) <= MAX_CAMERA_COORDINATE) &&
    x * x + y * y + z * z >= MIN_CAMERA_DISTANCE * MIN_CAMERA_DISTANCE
  );
}

/** The query of a state, with "?"; "" if nothing differs from the defaults. @param {State} state
 * @param {Record<string, string | number>} choices the defaults of the choices @param {Recipe} recipe
 * @returns {string} */
export function write(state, choices, recipe) {
  const query = new URLSearchParams();
  /** Add a number to the query, unless it equals the default after rounding. It is written with five
   * significant digits, or with all its digits if the rounded number is not allowed. @param {string} name
   * @param {number} x @param {number} usual the default @param {(x: number) => boolean} fits whether a number
   * is allowed */
  const put = (name, x, usual, fits) => {
    const few = Number(x.toPrecision(5));
    if (x !== usual && few !== usual) query.set(name, String(fits(few) ? few : x));
  };
  for (const [name, usual] of Object.entries(choices)) {
    const value = state.choices[name];
    if (value !== undefined && String(value) !== String(usual)) query.set(name, String(value));
  }
  for (const p of recipe.parameters) put(p.name, state.params[p.name], p.value, (x) => within(p, x));
  put("progress", state.progress, recipe.progress, () => true);
  if (state.follow !== recipe.follow) query.set("follow", String(state.follow));
  const camera = state.camera && cameraNumbers(state.camera);
  if (camera) query.set("camera", camera.join(","));
  if (state.theme) query.set("theme", state.theme);
  if (state.controls) query.set("controls", state.controls.join(",") || "0");
  if (state.tour) query.set("tour", String(state.tour));
  const text = query.toString().replaceAll("%2C", ",");
  return text && `?${text}`;
}

/** The three or six numbers with which a link names a camera: with four decimals, or with all decimals if the
 * rounded numbers are not an allowed camera (`isCamera`). Undefined for a camera that a link cannot have.
 * @param {{eye: number[], center: number[]}} camera @returns {number[] | undefined} */
function cameraNumbers({ eye, center }) {
  const all = [...eye, ...center];
  const few = all.map((v) => Number(v.toFixed(4)));
  return [few, all].map((each) => (each.slice(3).some(Boolean) ? each : each.slice(0, 3))).find(isCamera);
}

/** The parameters, progress, camera and followed (selected) point that a state keeps when the scene gets
 * another recipe. A value of a parameter is kept if it differs from the old default and is allowed in the new
 * recipe; all other parameters get the new defaults. Progress is limited to the last stage. If the new recipe
 * has no point with the followed point's index, its default point is followed. @param {State} state @param
 * {Recipe} before the old recipe @param {Recipe} recipe the new one */
export function kept(state, before, recipe) {
  const params = defaults(recipe);
  const usual = defaults(before);
  for (const p of recipe.parameters) {
    const value = state.params[p.name];
    if (value !== usual[p.name] && within(p, value ?? NaN)) params[p.name] = value;
  }
  return {
    params,
    progress: Math.min(state.progress, recipe.stages.length - 1),
    camera: state.camera,
    follow: state.follow < pointCount(recipe) ? state.follow : recipe.follow,
  };
}

/** A copy of `params` in which the values of the parameters that the reader has set are replaced by those in
 * `present`. Values in `present` that the recipe does not allow are ignored. @param {Record<string, number>}
 * params @param {Record<string, number>} present the present values @param {Set<string>} touched the names of
 * the values that the reader has set @param {Recipe} recipe */
export function overlaid(params, present, touched, recipe) {
  const own = recipe.parameters.filter((p) => touched.has(p.name) && within(p, present[p.name] ?? NaN));
  return { ...params, ...Object.fromEntries(own.map(({ name }) => [name, present[name]])) };
}
