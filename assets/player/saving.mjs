// @ts-check
/** Print the figure, and save it as a file. */

import { h } from "../dom.mjs";
import { collage } from "../painter/views.mjs";
import { color } from "./mount.mjs";

const PAPER_WIDTH = 660; // CSS pixels of the printed page's text width

/** Prepare the views for printing, as on the screen but not wider than the paper; or undo that.
 * @param {import("./player.mjs").Player} player @param {boolean} on */
export function print(player, on) {
  const { clientWidth: width, clientHeight: height, style } = player.need("views");
  Object.assign(
    style,
    on
      ? { width: `${width}px`, height: `${height}px`, zoom: String(Math.min(1, PAPER_WIDTH / width)) }
      : { width: "", height: "", zoom: "" },
  );
  for (const panel of player.panels) panel.print(on);
}

/** Download all views side by side as PNG; without WebGL, the server's SVG.
 * @param {import("./player.mjs").Player} player */
export async function save(player) {
  const { panels, root, slug } = player;
  const download = (/** @type {string} */ href, /** @type {string} */ ending) =>
    h("a", { href, download: `${slug}.${ending}` }).click();
  if (panels.length) {
    const canvas = await collage(panels, color(root, "paper"));
    download(canvas.toDataURL("image/png"), "png");
  } else if (root.dataset.still) download(player.picture(), "svg");
}
