// @ts-check
/** A figure's colours: replace the names of roles by the theme's colours, and colour values by a scale of 64
 * colours. */

/** @typedef {import("../engine/recipe.d.ts").Color} Color */

/** A copy of data, such as a Plotly figure, in which every string `var(--role)` is replaced by the role's
 * colour. Arrays of numbers are not copied. @template T @param {T} data @param {(name: string) => string}
 * color the colour of a role @returns {T} */
export function resolve(data, color) {
  const found = /** @param {unknown} part @returns {unknown} */ (part) => {
    if (typeof part === "string") return part.startsWith("var(--") ? color(part.slice(6, -1)) : part;
    if (Array.isArray(part)) return typeof part.at(-1) === "number" ? part : part.map(found);
    if (part && typeof part === "object")
      return Object.fromEntries(Object.entries(part).map(([key, v]) => [key, found(v)]));
    return part;
  };
  return /** @type {T} */ (found(data));
}

/** The red, green and blue components of a colour. @param {string} hex such as "#a0b1c2" @returns {number[]}
 * three numbers from 0 to 1 */
export const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);

/** A colour scale as 64 colours, interpolated linearly between its stops. Each colour is three numbers from 0
 * to 1: red, green and blue. @param {[number, string][]} scale equally spaced stops with their colours */
export function palette(scale) {
  const stops = scale.map(([, hex]) => rgb(hex));
  return Array.from({ length: 64 }, (_, i) => {
    const p = (i / 63) * (stops.length - 1);
    const k = Math.min(Math.floor(p), stops.length - 2);
    const f = p - k;
    return stops[k].map((c, j) => (1 - f) * c + f * stops[k + 1][j]);
  });
}

/**
 * The index, from 0 to 63, of a value's colour in a `palette`. Values below `low` get 0, values above `high`
 * get 63, and NaN gets 0. @param {number} value @param {{low: number, high: number}} color the values at the
 * ends of the scale @returns {number}
 */
export const shade = (value, color) =>
  Math.max(0, Math.min(63, Math.round((63 * (value - color.low)) / (color.high - color.low)))) || 0;
