// @ts-check
/**
 * Check the properties that code sets: the types of all properties, the values of `slug` and `theme`, and the
 * names in `params`. Other values are checked by link.mjs and by the server. Python checks the same when a
 * component is made (normscape/scene.py), but it does not check values that a callback sets. Pure.
 */

import { NAMES, isSet } from "./binding.mjs";

export const PROPERTIES = ["slug", "controls", "theme", ...NAMES];
const THEMES = ["auto", "light", "dark"];
const MAX_QUOTED_CHARACTERS = 80; // length of a quoted value in an error message
const MAX_LISTED = 24; // names that an error message lists; the same in components/language/scene.py

/** The error message about the first property that has a wrong type, an impossible `slug` or an unknown
 * `theme`; "" if there is none. A property that is null or undefined counts as not set; only `slug` must be
 * set. @param {Record<string, any>} props the properties that code has set @returns {string} */
export function wrongProperty({ slug, choices, params, progress, follow, camera, controls, theme }) {
  if (typeof slug !== "string" || !/^[\w-]+$/.test(slug)) return `slug=${quoted(slug)} is not a scene`;
  for (const [name, dict] of Object.entries({ choices, params })) {
    if (!isSet(dict)) continue;
    if (typeof dict !== "object" || Array.isArray(dict))
      return `${name}=${quoted(dict)} is not a dict by name`;
    const wrong = Object.entries(dict).find(([, value]) => !isSet(value) || typeof value === "object");
    const words = name === "params" ? "a number" : "a number or a text";
    const also = wrong && !isSet(wrong[1]) ? " (NaN and infinity arrive as None)" : "";
    if (wrong) return `${wrong[0]}=${quoted(wrong[1])} is not ${words}${also}`;
  }
  for (const [name, value] of Object.entries({ progress, follow }))
    if (isSet(value) && typeof value === "object") return `${name}=${quoted(value)} is not a number`;
  for (const [name, value] of Object.entries({ camera, controls }))
    if (isSet(value) && !Array.isArray(value)) return `${name}=${quoted(value)} is not a list`;
  if (controls?.some((/** @type {unknown} */ each) => typeof each !== "string"))
    return `controls=${quoted(controls)} is not a list of names`;
  if (isSet(theme) && !THEMES.includes(theme))
    return `theme=${quoted(theme)} is not a theme; there are only ${THEMES.join(", ")}`;
  return "";
}

/** The error message for the first name in `params` that is not among `names`, the scene's parameters; "" if
 * there is none. @param {object | undefined} params @param {string[]} names */
export function unknownParameter(params, names) {
  const name = Object.keys(params ?? {}).find((each) => !names.includes(each));
  const only = names.length <= MAX_LISTED ? `; there are only ${names.join(", ")}` : "";
  return name === undefined ? "" : `this scene has no parameter ${name}${only}`;
}

/** Format a value for an error message: texts and None as Python writes them, other values as JSON. After
 * MAX_QUOTED_CHARACTERS the result is cut off, with “…”. @param {unknown} value @returns {string} */
function quoted(value) {
  if (!isSet(value)) return "None";
  const text = typeof value === "string" ? `'${value}'` : JSON.stringify(value);
  return text.length > MAX_QUOTED_CHARACTERS ? `${text.slice(0, MAX_QUOTED_CHARACTERS)}…` : text;
}
