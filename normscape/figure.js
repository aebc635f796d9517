// @ts-check
/**
 * The front end of a figure in a notebook; anywidget calls `render`. All figures share their modules, styles
 * and Plotly. These are sent to a page only once, as the state of a separate widget; if the page cannot find
 * that widget, it requests them from the kernel. Each module gets a blob: URL, after the modules that it
 * imports.
 *
 * @typedef {import("../assets/guest/kernel_recipe.mjs").Model} Model the model of a figure's widget
 * @typedef {{modules: [string, string][], styles: string, plotly: string}} Library the sources that all
 *   figures share: names and texts of modules, a style sheet, and Plotly's script
 */

const WIDGET_TIMEOUT_MS = 3000; // milliseconds to wait for the shared widget, which may not exist
const FAILED_TEXT = "Normscape: this figure could not be started. Run its cell again.";
// selects the elements around one output in JupyterLab, Notebook, their HTML exports, and Quarto
const OUTPUT_CELL = ":is(.jp-OutputArea-child, .output_area, .cell-output)";
const page = /** @type {any} */ (globalThis);

/** Decode data from Python: JSON, compressed by gzip. @param {DataView} packed */
const unpack = (packed) =>
  new Response(
    new Blob([/** @type {BlobPart} */ (packed)]).stream().pipeThrough(new DecompressionStream("gzip")),
  ).json();

/** The blob: URL of a JavaScript module with this source. @param {string} text */
const address = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));

/** Load the code that all figures share, once for each page and version. After a failure the next figure
 * tries again. @param {Model} model */
async function code(model) {
  const known = (page.normscapeCode ??= new Map());
  const version = model.get("_version");
  if (!known.has(version)) known.set(version, packed(model).then(unpack).then(load));
  return known.get(version).catch((/** @type {unknown} */ error) => {
    known.delete(version);
    throw error;
  });
}

/** The compressed code that all figures share. It comes from the shared widget, or, if the page cannot find
 * that widget within WIDGET_TIMEOUT_MS, from the kernel. @param {Model} model @returns {Promise<DataView>} */
async function packed(model) {
  const late = new Promise((_, no) => setTimeout(no, WIDGET_TIMEOUT_MS));
  const found = await Promise.race([model.widget_manager?.get_model(model.get("_library")), late]).catch(
    () => null,
  );
  return (
    found?.get("code") ??
    new Promise((go) => {
      const hear = (/** @type {{code?: boolean}} */ news, /** @type {DataView[]} */ [buffer]) => {
        if (!news.code) return;
        model.off("msg:custom", hear);
        go(buffer);
      };
      model.on("msg:custom", hear);
      model.send({ code: true });
    })
  );
}

/** Give each module a blob: URL, and import the entry point, guest/kernel. In each module, the names of the
 * modules that it imports are replaced by their URLs. @param {Library} library */
async function load({ modules, styles, plotly }) {
  const at = /** @type {Record<string, string>} */ ({});
  for (const [name, text] of modules)
    at[name] = address(
      text.replace(/"normscape\/([\w/-]+)"/g, (all, other) => (at[other] ? `"${at[other]}"` : all)),
    );
  const { show } = await import(at["guest/kernel"]);
  return { show, styles, plotly: address(plotly), unpack };
}

/** Hide the still picture that the notebook stores as another output, below the figure. The element around
 * this output is hidden too. Returns a function that shows both again. @param {string} picture the picture's
 * CSS class @returns {() => void} */
function hide(picture) {
  const style = document.createElement("style");
  style.textContent = `${OUTPUT_CELL}:has(.${picture}), .${picture} { display: none !important }`;
  document.head.append(style);
  return () => style.remove();
}

/** Show a figure in an output of a notebook, as anywidget requires. Returns a function that removes it.
 * @param {{model: Model, el: HTMLElement}} view */
async function render({ model, el }) {
  try {
    const { show, ...more } = await code(model);
    const close = show(model, el, more);
    const bring = hide(model.get("_picture"));
    return () => {
      close();
      bring();
    };
  } catch (error) {
    el.textContent = FAILED_TEXT;
    throw error;
  }
}

export default { render };
