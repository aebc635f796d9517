// @ts-check
/** DOM helpers for all folders: elements, labels with subscripts, canvases, downloads, numbers as text. */

const URL_LIFETIME_MS = 60_000; // milliseconds until the URL of a saved file is revoked

/** Create an element with properties, listeners (`onclick` …) and children. A name that is no property of the
 * element, such as `data-slug`, becomes an attribute. In children that are strings, `<sub>…</sub>` becomes a
 * subscript; an `option` cannot show one, so there only the tags are removed.
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

/** A label as DOM nodes. `<sub>…</sub>` becomes a subscript; all other characters are shown as they are.
 * @param {string} label @returns {(Node | string)[]} */
const typeset = (label) =>
  label
    .split(/<sub>(.*?)<\/sub>/)
    .map((piece, i) => (i % 2 ? h("sub", {}, piece) : piece))
    .filter(Boolean);

/** A label as plain text: the tags `<sub>` and `</sub>` are removed, the letters between them stay.
 * @param {string} label */
export const plainLabel = (label) => label.replaceAll(/<\/?sub>/g, "");

/** The 2D drawing context of a canvas. @param {HTMLCanvasElement} canvas */
export const pen = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/** Create a row of a table: a `tr` element with a header cell and other cells. @param {Node | string} head
 * the content of its header cell, which comes first @param {string[]} cells the texts of its other cells
 * @param {Record<string, unknown>} [properties] of the row, as in `h` */
export const tableRow = (head, cells, properties = {}) =>
  h("tr", properties, h("th", { scope: "row" }, head), ...cells.map((cell) => h("td", {}, cell)));

/** Put a table into an element that scrolls if the table is too large, and return the element. Readers can
 * also scroll it by the keyboard. @param {string} label says to screen readers what the table contains
 * @param {HTMLElement} table */
export const scrolling = (label, table) =>
  h("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": label }, table);

/** Make the browser download what is at a URL, as a file. @param {string} href the URL @param {string} name
 * of the file */
export const download = (href, name) => h("a", { href, download: name }).click();

/** Make the browser save data as a file. @param {Blob} data @param {string} name of the file */
export function saveData(data, name) {
  const url = URL.createObjectURL(data);
  download(url, name);
  setTimeout(() => URL.revokeObjectURL(url), URL_LIFETIME_MS);
}

/** Copy a text to the clipboard. Returns a promise of whether this was possible: browsers may refuse it, and
 * have no clipboard on pages without HTTPS. @param {string} text @returns {Promise<boolean>} */
export const copied = (text) =>
  (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(
    () => true,
    () => false,
  );

/** Format a number for readers. It has at most four decimals (0.30000000000000004 becomes 0.3); between
 * −0.001 and 0.001 it is in exponential notation, with the mantissa cut to two decimals (1.239e-5 becomes
 * 1.23e-5); 0 stays 0. @param {number} x */
export const readable = (x) =>
  x !== 0 && Math.abs(x) < 1e-3
    ? x.toExponential().replace(/(\.\d\d)\d+/, "$1")
    : String(Number(x.toFixed(4)));

/** A whole number as text, with commas between thousands. */
export const whole = new Intl.NumberFormat("en-GB").format;

/** A duration in words, rounded up to whole seconds, such as "2 min 5 s". @param {number} seconds */
export function duration(seconds) {
  const s = Math.ceil(seconds);
  return s < 60 ? `${s} s` : `${Math.floor(s / 60)} min ${s % 60} s`;
}
