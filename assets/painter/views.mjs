// @ts-check
/** Helpers for panels: load Plotly, make a view's legend, and give its initial camera. */

import { shared } from "../globals.mjs";
import { h, readable } from "../dom.mjs";

/** Load the Plotly library at the first call, and only once for the page; later calls return the same
 * promise. If it cannot be loaded, the promise rejects, and the next call tries again. @param {string} source
 * the script's address @returns {Promise<import("../globals.mjs").Plotly>} */
export function plotly(source) {
  shared.normscape.plotly ??= shared.Plotly
    ? Promise.resolve(shared.Plotly)
    : new Promise((resolve, reject) => {
        document.head.append(
          h("script", {
            src: source,
            onload: () => resolve(shared.Plotly),
            onerror: () => {
              delete shared.normscape.plotly; // the next figure tries again
              reject(new Error("Plotly did not load"));
            },
          }),
        );
      });
  return shared.normscape.plotly;
}

/** Create a view's legend, a `ul` element. A layer of one colour gets an entry if it has a title. If
 * `view.beside` is true, that title may later be moved into the picture (names.mjs). A layer coloured by
 * values gets a colour bar if its colour scale has a title; its own title is not shown.
 * @param {import("../engine/engine.mjs").View} view */
export function legend(view) {
  const items = view.layers.flatMap((layer, l) => {
    const swatch = h(
      "span",
      layer.draws === "line" && layer.pattern.length
        ? { className: "swatch dashed", innerHTML: stroke(layer) }
        : {
            className: `swatch ${layer.draws} ${layer.draws === "points" ? layer.glyph : ""}`,
            style: `background: var(--${layer.role}); border-color: var(--${layer.role})`,
          },
    );
    if (!layer.color) {
      const named = {
        style: `--name: var(--${layer.role})`,
        "data-layer": l,
        ...(view.beside && { "data-movable": "" }),
      };
      return layer.title ? [h("li", named, swatch, titled(layer))] : [];
    }
    const { title, low, high, scale } = layer.color;
    if (!title) return [];
    const trace = view.figure.data[l];
    const steps = (trace.marker ?? trace).colorscale.map((/** @type {[number, string]} */ [, step]) => step);
    const words =
      scale === "cyclic"
        ? title
        : `${title}: ${[low, high].map((x) => readable(x).replace("-", "−")).join("\u00a0…\u00a0")}`;
    const bar = h("span", { className: "bar", style: `background: linear-gradient(to right, ${steps})` });
    return [h("li", { "data-layer": l }, bar, h("span", {}, words))];
  });
  const onField = view.layers.some(({ draws }) => draws === "field");
  return h("ul", { className: onField ? "legend on-field" : "legend" }, ...items);
}

/** The initial camera of a view: its eye, and the point at which it looks (`center`). If the recipe does not
 * give this point, it is the origin. @param {import("../engine/engine.mjs").View} view */
export const home = ({ camera }) => ({
  eye: camera.slice(0, 3),
  center: camera.length > 3 ? camera.slice(3) : [0, 0, 0],
});

/** An element with a layer's title and, if the layer has a hint about the effect of a click, the hint;
 * saved pictures leave out the hint. One element holds both, because the entries of a legend are flex
 * containers, which would separate a subscript from its letter. */
const titled = (/** @type {import("../engine/recipe.d.ts").Mark} */ { title, hint }) =>
  h("span", {}, title, ...(hint ? [h("span", { className: "hint" }, `: ${hint}`)] : []));

/** The SVG text of the legend's sample of a dashed line: a short line in the layer's colour and dash pattern.
 * @param {Extract<import("../engine/recipe.d.ts").Mark, {draws: "line"}>} layer */
const stroke = (layer) =>
  `<svg viewBox="0 0 40 4" aria-hidden="true"><path d="M0 2h40" stroke="var(--${layer.role})" stroke-width="3" stroke-dasharray="${layer.pattern}"/></svg>`;
