// @ts-check
/** Show the share dialog. It offers a link to the figure, the HTML of an iframe that shows the figure in
 * another page, and files to save (PNG, SVG, video). If the figure moves, link and iframe show the state in
 * which it will come to rest. */

import { copied, h } from "../dom.mjs";
import { write } from "../player/link.mjs";
import { film, filmFormat } from "./film.mjs";
import { resting } from "../player/resting.mjs";
import { teaching } from "./teacher.mjs";
/** @import { Player } from "../player/player.mjs" */

const INITIAL_HEIGHT_PX = 720; // height of an iframe until the figure in it sends its own height
const EMBED_THEMES = { auto: "auto: as the surrounding page", light: "light", dark: "dark" };

/** Escape a text for an HTML attribute. @param {string} text */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/** The script that a page of another site needs once, so that its iframes get the heights of their figures;
 * docs/embedding.md has the same text. */
const HEIGHT_SCRIPT = `<script>
addEventListener("message", ({ data, source }) => {
  if (data?.type === "normscape:height")
    for (const frame of document.querySelectorAll("iframe"))
      if (frame.contentWindow === source) frame.height = data.height;
});
</script>`;

/** The HTML for other pages: an iframe with the figure in the state in which it comes to rest, and the
 * script that sets its height. @param {Player} player @param {string} theme auto, light or dark */
function snippet(player, theme) {
  const state = { ...resting(player), theme: theme === "auto" ? "" : theme };
  const query = write(state, player.usual, player.recipe);
  const source = new URL(player.root.dataset.embed + query, location.href).href;
  return (
    `<iframe src="${escaped(source)}" title="${escaped(player.recipe.title)}" width="100%"` +
    ` height="${INITIAL_HEIGHT_PX}" loading="lazy" allow="fullscreen" style="border: 0"></iframe>\n${HEIGHT_SCRIPT}`
  );
}

/** Create the part of the dialog with the HTML for other pages, and a drop-down list for the iframe's theme.
 * @param {Player} player @param {HTMLElement} said the dialog's line for messages */
function embedPart(player, said) {
  const theme = h(
    "select",
    { id: "embed-theme" },
    ...Object.entries(EMBED_THEMES).map(([value, label]) =>
      h("option", { value, selected: value === (player.state.theme || "auto") }, label),
    ),
  );
  const part = copyable("Embed", snippet(player, theme.value), said);
  const field = /** @type {HTMLTextAreaElement} */ (part.querySelector("textarea"));
  theme.onchange = () => {
    field.value = snippet(player, theme.value);
  };
  field.after(h("p", {}, h("label", { htmlFor: theme.id }, "Theme "), theme));
  return part;
}

/** Create a part of the dialog with a text and a button that copies the text. If the browser does not allow
 * copying, the button selects the text instead. @param {string} label the heading of the part
 * @param {string} text @param {HTMLElement} said the dialog's line for messages */
function copyable(label, text, said) {
  const field = h("textarea", {
    readOnly: true,
    rows: text.length > 120 ? 4 : 2,
    value: text,
    "aria-label": label,
    onfocus: () => field.select(),
  });
  const copy = async () => {
    const done = await copied(field.value);
    if (!done) field.focus();
    said.textContent = done ? `${label} copied.` : `${label} selected: press Ctrl+C, or ⌘C.`;
  };
  return h(
    "div",
    { className: "taken" },
    h("h3", {}, label),
    field,
    h("button", { type: "button", onclick: copy }, `Copy ${label.toLowerCase()}`),
  );
}

/** Create the note which says that the links work only on the reader's own computer. Returns an array with
 * the note; [] if the page comes from another computer. */
const localNote = () =>
  ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname)
    ? [
        h(
          "p",
          { className: "local" },
          "These links work only on this computer: their address is ",
          location.host,
          ".",
        ),
      ]
    : [];

/** Open the share dialog. @param {Player} player */
export function share(player) {
  const { embed, still } = player.root.dataset;
  const query = write(resting(player), player.usual, player.recipe);
  const said = h("p", { className: "said", role: "status" });
  const file = (/** @type {string} */ label, /** @type {() => void} */ onclick) =>
    h("button", { type: "button", onclick }, label);
  const files = /** @type {HTMLElement[]} */ ([file("PNG", () => player.save())]);
  if (still) files.push(h("a", { href: player.picture(), download: `${player.slug}.svg` }, "SVG"));
  const format = filmFormat(player);
  if (format)
    files.push(
      file(`${format.name}, the video`, () => {
        dialog.close();
        film(player, format);
      }),
    );
  const dialog = h(
    "dialog",
    { className: "help share", "aria-labelledby": "share-title", onclose: () => dialog.remove() },
    h("h2", { id: "share-title" }, "Share what is on the screen"),
    ...localNote(),
    copyable("Link", new URL(query || player.path, location.href).href, said),
    ...(embed ? [embedPart(player, said)] : []),
    teaching(player, copyable("Teacher's link", "", said)),
    h("h3", {}, "Save as"),
    h("div", { className: "files" }, ...files),
    said,
    h("button", { type: "button", onclick: () => dialog.close() }, "Close"),
  );
  document.body.append(dialog);
  dialog.showModal();
}
