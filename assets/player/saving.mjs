// @ts-check
/** Prepare the figure for printing, copy it to a canvas, and save it as an image file. */

import { download, h, pen } from "../dom.mjs";
import { drawCaptions } from "../painter/captions.mjs";
import { color } from "./mount.mjs";
/** @import { Player } from "./player.mjs" */

const PAPER_WIDTH = 660; // width of the text on a printed page, in CSS pixels
const PICTURE_RATIO = 2; // pixels of a saved picture for each CSS pixel
const NAMING_FRAMES = 25; // frames of a film in which names are kept clear of the marks

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

/** Create a canvas for pictures of the figure, and a function `copy` that draws the visible views on it as
 * the page shows them at present, with their titles, numbers, legends and names. The canvas has `ratio`
 * pixels for each CSS pixel; its width and height are even, because video formats require it. @param
 * {Player} player @param {number} ratio @param {boolean} moving whether `copy` is called in later frames as
 * well */
export async function copying(player, ratio, moving) {
  const panels = player.panels.filter(({ opened, gd }) => opened && gd.clientWidth);
  const { places, width, height } = arrange(
    panels.map(({ gd }) => gd.parentElement),
    player.need("views"),
  );
  const even = (/** @type {number} */ x) => 2 * Math.round((x * ratio) / 2);
  const canvas = h("canvas", { width: even(width), height: even(height) });
  const context = pen(canvas);
  const images = await Promise.all(panels.map((panel) => panel.images(moving)));
  const copy = () => {
    const paper = color(player.root, "paper");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = paper;
    context.fillRect(0, 0, width, height);
    panels.forEach((panel, v) => {
      const view = panel.gd.parentElement;
      const [left, top] = places[v];
      const [from, at] = [view, panel.gd].map((element) => element.getBoundingClientRect());
      panel.copy(context, left + at.left - from.left, top + at.top - from.top, images[v]);
      drawCaptions(context, view, left, top, paper);
    });
  };
  return { canvas, copy };
}

/** The places (left, top) of views in a picture, and the size of the picture, in CSS pixels. The places are
 * as on the page. On a telephone, however, where other parts of the page stand between the views, the views
 * are put below one another. @param {HTMLElement[]} views the elements of the visible views @param
 * {HTMLElement} parent the element that contains them */
function arrange(views, parent) {
  const boxes = views.map((view) => view.getBoundingClientRect());
  const whole = parent.getBoundingClientRect();
  if (whole.width) {
    const { left, top, width, height } = whole;
    return { places: boxes.map((box) => [box.left - left, box.top - top]), width, height };
  }
  let below = 0;
  const places = boxes.map(({ height }) => {
    const top = below;
    below += height;
    return [0, top];
  });
  return { places, width: Math.max(0, ...boxes.map(({ width }) => width)), height: below };
}

/** Give each name of a mark one place for a whole film, so that no mark ever covers the name. For this the
 * figure is shown at NAMING_FRAMES moments between the first and the last stage. @param {Player} player
 * @returns a promise of a function that gives the names their places at rest again */
export async function placeNames(player) {
  const { panels } = player;
  const place = () => panels.forEach((panel) => panel.opened && panel.onRest());
  document.documentElement.classList.add("film");
  for (const panel of panels) panel.filmFrames = [];
  for (let k = 0; k < NAMING_FRAMES && !player.closed; k++) {
    player.seek((k * player.last) / (NAMING_FRAMES - 1));
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
    for (const panel of panels) if (panel.opened) panel.filmFrames.push(panel.pixelFrame);
  }
  place();
  return () => {
    document.documentElement.classList.remove("film");
    for (const panel of panels) panel.filmFrames = [];
    place();
  };
}

/** Download the figure as the page shows it, as a PNG. If there are no interactive panels (without WebGL),
 * download the server's SVG picture instead, if the page names one. @param {Player} player */
export async function save(player) {
  const { panels, root, slug } = player;
  if (panels.length) {
    const { canvas, copy } = await copying(player, PICTURE_RATIO, false);
    copy();
    download(canvas.toDataURL("image/png"), `${slug}.png`);
  } else if (root.dataset.still) download(player.picture(), `${slug}.svg`);
}
