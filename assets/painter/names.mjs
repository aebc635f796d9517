// @ts-check
/**
 * Names at the things: what a layer is called stands beside it, where there is room; else in the legend. At
 * rest only, for what is seen now. `placed` and `spots` are pure; `name` looks at a panel and its legend.
 *
 * @typedef {[number, number, number, number]} Box left, top, width and height, pixels
 * @typedef {[number, number, number, number]} Spot a point of a thing, and which way from there its name may
 * stand
 */

import { flat } from "../engine/perspective.mjs";

const GAP = 6; // pixels between a thing and its name
const SMALL = 6; // pixels: points up to this size count as their centre
const LARGE = 1.6; // factor by which the nearest points are drawn larger
const FEW = 60; // large points block names only in layers with at most this many
const FAR = 9; // pixels kept free left and right of a name; half of that above and below
const WAYS = Array.from({ length: 16 }, (_, k) => [Math.cos((k * Math.PI) / 8), Math.sin((k * Math.PI) / 8)]);
const BESIDE = 2.7; // a direction more than 22° off an axis is that of a corner
const ALONG = 9; // points along a line at which its name may stand
const CROWD = 600; // points sampled of each layer
const DENSE = 10; // pixels from point to point of a line
const SEEN = 0.03; // opacity
const ROW = 1.8; // of the height of its letters: the row that a legend has in any case
const ROWS = 3; // of a legend, at most
const SHARE = 0.3; // of its view's height that a legend takes, at most
const LETTER = 0.62; // width of a letter over its height

/** Where a name may stand at a thing: at its ends in each direction, beside points along a line.
 * @param {Float32Array} at pixels, gaps NaN @param {boolean} line @returns {Spot[]} */
export function spots(at, line) {
  const found = /** @type {Spot[]} */ ([]);
  const whole = [];
  for (let i = 0; i < at.length / 2; i++) if (at[2 * i] === at[2 * i]) whole.push(i);
  if (!whole.length) return found;
  for (const [dx, dy] of WAYS) {
    const reach = (/** @type {number} */ i) => at[2 * i] * dx + at[2 * i + 1] * dy;
    const end = whole.reduce((best, i) => (reach(i) > reach(best) ? i : best));
    found.push([at[2 * end], at[2 * end + 1], dx, dy]);
  }
  for (let k = 1; line && k < ALONG; k++) {
    const i = whole[Math.floor((k * (whole.length - 1)) / ALONG)];
    for (const [dx, dy] of [
      [1, 0],
      [-1, 0],
      [0.7, -0.7],
      [-0.7, 0.7],
      [0, -1],
      [0, 1],
    ])
      found.push([at[2 * i], at[2 * i + 1], dx, dy]);
  }
  return found;
}

/** @param {Box} a @param {Box} b */
const meet = (a, b) => a[0] < b[0] + b[2] && b[0] < a[0] + a[2] && a[1] < b[1] + b[3] && b[1] < a[1] + a[3];

/** A box for each name: inside of a room, over no point and no other box; null where there is none.
 * @param {{wide: number, tall: number, spots: Spot[], gap?: number}[]} names each at a gap from its thing
 * @param {Box} room @param {Box[]} taken @param {Float32Array} crowd points @returns {(Box | null)[]} */
export function placed(names, room, taken, crowd) {
  const full = [...taken];
  return names.map(({ wide, tall, spots, gap = GAP }) => {
    for (const [x, y, dx, dy] of spots) {
      // its nearest corner or side is at the thing
      const [right, down] = [dx, dy].map((d) => Math.max(-1, Math.min(1, BESIDE * d)));
      const box = /** @type {Box} */ ([
        x + right * (wide / 2 + gap) - wide / 2,
        y + down * (tall / 2 + gap) - tall / 2,
        wide,
        tall,
      ]);
      if (
        box[0] < room[0] ||
        box[1] < room[1] ||
        box[0] + wide > room[0] + room[2] ||
        box[1] + tall > room[1] + room[3]
      )
        continue;
      if (full.some((other) => meet(box, other))) continue;
      let free = true;
      for (let i = 0; free && i < crowd.length; i += 2)
        free = !(
          crowd[i] > box[0] &&
          crowd[i] < box[0] + wide &&
          crowd[i + 1] > box[1] &&
          crowd[i + 1] < box[1] + tall
        );
      if (!free) continue;
      full.push([box[0] - FAR, box[1] - FAR / 2, wide + 2 * FAR, tall + FAR]);
      return box;
    }
    return null;
  });
}

/** The points of a line, and others between them where they are far apart. @param {Float32Array} at */
function dense(at) {
  const out = [];
  for (let i = 0; i < at.length / 2; i++) {
    const [x, y, u, v] = [at[2 * i], at[2 * i + 1], at[2 * i + 2], at[2 * i + 3]];
    const far = Math.hypot(u - x, v - y);
    out.push(x, y);
    for (let s = DENSE; s < far; s += DENSE) out.push(x + ((u - x) * s) / far, y + ((v - y) * s) / far);
  }
  return Float32Array.from(out);
}

/** Room for all of a legend, whatever of it is seen: the figure keeps its size, from before it is drawn.
 * @param {HTMLElement} legend */
export function reserveLegend(legend) {
  const rows = /** @type {HTMLElement[]} */ ([...legend.children]).map((item) => ({
    item,
    l: Number(item.dataset.layer),
    own: "named" in item.dataset,
    told: told(item, legend),
  }));
  for (const { item, told } of rows) {
    item.classList.remove("named");
    item.hidden = told;
  }
  const own = parseFloat(getComputedStyle(legend).fontSize);
  const whole = /** @type {HTMLElement} */ (legend.parentElement);
  const most = Math.max(ROW * own, Math.min(ROWS * ROW * own, SHARE * whole.clientHeight));
  const all = Math.min(legend.offsetHeight, most);
  if (all > ROW * own) whole.style.paddingBottom = `${all}px`;
  return { rows, most };
}

/** The legend of a panel, whose names stand at their things. @param {import("./painter.mjs").Panel} panel */
export function name(panel) {
  const { gd, view, frame } = panel;
  const legend = gd.parentElement.querySelector(".legend");
  // of what grows there is no frame yet
  if (panel.closed || !gd.clientWidth || !legend || frame.length !== view.layers.length) return;
  gd.classList.remove("turning");
  const size = /** @type {[number, number]} */ ([gd.clientWidth, gd.clientHeight]);
  const camera = panel.is3d ? panel.camera() : null;
  const at = view.layers.map((layer, l) => pixels(panel, frame[l], camera, size));
  const seen = (/** @type {number} */ l) => frame[l].opacity > SEEN;
  const thin = at.map((points, l) => (view.layers[l].draws === "line" ? dense(points) : points));
  const { rows, most } = reserveLegend(legend);
  for (const { item, l } of rows) item.hidden = !seen(l);
  const here = gd.getBoundingClientRect();
  const taken = boxes(panel, here, at, seen);
  const crowd = Float32Array.from(
    view.layers.flatMap((layer, l) =>
      seen(l) && (layer.draws === "points" || layer.draws === "line") ? few(thin[l]) : [],
    ),
  );
  const wanted = rows.filter(({ item, own }) => own && !item.hidden);
  for (const { item } of wanted) item.classList.add("named");
  const names = wanted.map(({ item, l }) => ({
    wide: item.offsetWidth,
    tall: item.offsetHeight,
    spots: spots(thin[l], view.layers[l].draws === "line"),
    gap: GAP + Math.max(0, radius(view.layers[l]) - SMALL / 2),
  }));
  const free = /** @type {Box} */ (panel.is3d ? [2, 2, size[0] - 4, size[1] - 4] : panel.axesBox);
  const found = placed(names, free, taken, crowd);
  found.forEach((box, k) => wanted[k].item.classList.toggle("named", Boolean(box)));
  for (const { item, told } of rows) if (told && !item.classList.contains("named")) item.hidden = true;
  for (const { item } of rows.filter((row) => !row.item.classList.contains("named")).reverse()) {
    if (legend.offsetHeight <= most) break;
    item.hidden = true; // the figure comes first
  }
  found.forEach((box, k) => {
    if (box)
      Object.assign(wanted[k].item.style, {
        left: `${gd.offsetLeft + box[0] - legend.offsetLeft}px`,
        top: `${gd.offsetTop + box[1] - legend.offsetTop}px`,
      });
  });
}

/** How far a point reaches, in pixels; 0 of what is no point.
 * @param {import("../engine/recipe.d.ts").Mark} layer */
const radius = (layer) => (layer.draws === "points" ? (LARGE * layer.size) / 2 : 0);

/** Whether a view before this one tells the same. @param {HTMLElement} item @param {Element} legend */
function told(item, legend) {
  const all = [...(legend.closest(".views")?.querySelectorAll(".legend") ?? [])];
  const same = (/** @type {Element} */ other) =>
    other.textContent === item.textContent &&
    other.getAttribute("style")?.split(";")[0] === item.getAttribute("style")?.split(";")[0];
  return all
    .slice(0, all.indexOf(legend))
    .some((before) => [...before.children].some((other) => other.getClientRects().length > 0 && same(other)));
}

/** What no name may cover: large points, labels, and what stands over the figure.
 * @param {import("./painter.mjs").Panel} panel @param {DOMRect} here @param {Float32Array[]} at
 * @param {(l: number) => boolean} seen @returns {Box[]} */
function boxes({ gd, view }, here, at, seen) {
  const found = /** @type {Box[]} */ ([]);
  view.layers.forEach((layer, l) => {
    const r = radius(layer);
    if (seen(l) && 2 * r > LARGE * SMALL && at[l].length <= 2 * FEW)
      for (let i = 0; i < at[l].length; i += 2)
        if (at[l][i] === at[l][i]) found.push([at[l][i] - r, at[l][i + 1] - r, 2 * r, 2 * r]);
    if (layer.draws !== "labels" || !seen(l)) return;
    const { text, textfont } = view.figure.data[l];
    const tall = textfont.size;
    for (let i = 0; i < at[l].length / 2; i++) {
      const wide = LETTER * tall * [...text[i]].length + 4;
      // Plotly writes over a point, we at it
      found.push([at[l][2 * i] - wide / 2, at[l][2 * i + 1] - 1.4 * tall, wide, 2.2 * tall]);
    }
  });
  for (const over of gd
    .closest(".stage")
    ?.querySelectorAll(".formula, .headline, .edge, .handle, .picture, .guide") ?? []) {
    const { left, top, width, height } = over.getBoundingClientRect();
    // a headline takes no height
    if (width) found.push([left - here.left, top - here.top, width, Math.max(height, over.scrollHeight)]);
  }
  return found;
}

/** Some of many points, evenly. @param {Float32Array} at */
function few(at) {
  const step = Math.max(1, Math.ceil(at.length / 2 / CROWD));
  const out = [];
  for (let i = 0; i < at.length / 2; i += step)
    if (at[2 * i] === at[2 * i]) out.push(at[2 * i], at[2 * i + 1]);
  return out;
}

/** @param {import("./painter.mjs").Panel} panel @param {import("./painter.mjs").Drawn} drawn
 * @param {import("./painter.mjs").Camera | null} camera @param {[number, number]} size
 * @returns {Float32Array} */
function pixels(panel, { points }, camera, [width, height]) {
  if (camera) return flat(points, panel.ranges, camera, width, height);
  const out = new Float32Array(points.length);
  for (let i = 0; i < points.length; i += 2) [out[i], out[i + 1]] = panel.pixel(points[i], points[i + 1]);
  return out;
}
