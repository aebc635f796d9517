// @ts-check
/** DOM helpers for all folders: elements, labels with subscripts, canvases, numbers as text. */

/** Create an element with properties, listeners (`onclick` …) and children.
 * @template {keyof HTMLElementTagNameMap} K @param {K} tag @param {Record<string, unknown>} [properties]
 * @param {(Node | string)[]} children @returns {HTMLElementTagNameMap[K]} */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (name in element && name !== "list")
      /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (element))[name] = value;
    else element.setAttribute(name, String(value));
  }
  element.append(
    ...children.flatMap((child) =>
      typeof child !== "string" || !child.includes("<sub>")
        ? [child]
        : tag === "option"
          ? [plainLabel(child)]
          : typeset(child),
    ),
  );
  return element;
}

/** A label as nodes: `<sub>` becomes a subscript; nothing else is markup. @param {string} label
 * @returns {(Node | string)[]} */
const typeset = (label) =>
  label
    .split(/<sub>(.*?)<\/sub>/)
    .map((piece, i) => (i % 2 ? h("sub", {}, piece) : piece))
    .filter(Boolean);

/** A label as plain text, without `<sub>`. @param {string} label */
export const plainLabel = (label) => label.replaceAll(/<\/?sub>/g, "");

/** The 2D drawing context of a canvas. @param {HTMLCanvasElement} canvas */
export const pen = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/** A number for readers: at most four decimals, 0.30000000000000004 as 0.3; below 0.001 in exponential
 * notation with the mantissa cut to two decimals, 1.239e-5 as 1.23e-5. @param {number} x */
export const readable = (x) =>
  x !== 0 && Math.abs(x) < 1e-3
    ? x.toExponential().replace(/(\.\d\d)\d+/, "$1")
    : String(Number(x.toFixed(4)));

/** A whole number with separated thousands. */
export const whole = new Intl.NumberFormat("en-GB").format;
