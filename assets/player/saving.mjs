// @ts-check
/** Prepare the figure for printing, and save it as an image file. */

import { download } from "../dom.mjs";
import { collage } from "../painter/views.mjs";
import { color } from "./mount.mjs";
/** @import { Player } from "./player.mjs" */

const PAPER_WIDTH = 660; // width of the text on a printed page, in CSS pixels

/** Prepare the views for printing (`on`), or undo this after printing. The printed views look as on the
 * screen, but are scaled down if they are wider than the paper. @param {Player} player @param {boolean} on */
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

/** Download all views that have been drawn, side by side, as one PNG. If there are no interactive panels
 * (without WebGL), download the server's SVG picture instead, if the page names one. @param {Player} player
 */
export async function save(player) {
  const { panels, root, slug } = player;
  if (panels.length) {
    const canvas = await collage(panels, color(root, "paper"));
    download(canvas.toDataURL("image/png"), `${slug}.png`);
  } else if (root.dataset.still) download(player.picture(), `${slug}.svg`);
}
