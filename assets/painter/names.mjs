// @ts-check
/**
 * Place the labels of marks beside the marks, where there is room; the others stay in the legend. Only at
 * rest, for what is visible then. `placed` and `spots` are pure; `name` changes a panel and its legend.
 *
 * @typedef {[number, number, number, number]} Box left, top, width and height, in pixels
 * @typedef {[number, number, number, number]} Spot a point of a mark, and the direction from there in which
 *   its label can be
 * @typedef {import("./painter.mjs").Panel} Panel
 * @typedef {import("../engine/recipe.d.ts").Mark} Mark
 */

import { flat } from "../engine/perspective.mjs";

const LABEL_GAP_PX = 6; // between a mark and its label
const SMALL_POINT_PX = 6; // points up to this size count as their centre
// largest diameter of a point over its size, by dimensions: in 3D Plotly draws it 1.9 times as large, and
// near points grow
const DIAMETER_OVER_SIZE = [NaN, NaN, 1.6, 2.4];
const MAX_BLOCKING_POINTS = 60; // large points block labels only in marks with at most this many
const LABEL_MARGIN_PX = 9; // free space left and right of a label; half of that above and below
const DIRECTIONS = Array.from({ length: 16 }, (_, k) => [
  Math.cos((k * Math.PI) / 8),
  Math.sin((k * Math.PI) / 8),
]);
const LINE_DIRECTIONS = [[1, 0], [-1, 0], [0.7, -0.7], [-0.7, 0.7], [0, -1], [0, 1]]; // prettier-ignore
// in directions more than 22° off an axis, a corner of the label is at the mark, else the middle of a side
const CORNER_STEEPNESS = 2.7;
const SPOTS_ALONG_LINE = 9;
const MAX_SAMPLED_POINTS = 600; // of each mark
const LINE_SAMPLE_PX = 10; // from point to point
const MIN_OPACITY = 0.03; // a mark with less opacity counts as invisible
const MIN_LINE_PX = 2; // a shorter line counts as invisible
const LEGEND_ROW_EM = 1.8; // the legend always has the height of one row
const MAX_LEGEND_ROWS = 3;
const MAX_LEGEND_SHARE = 0.3; // of its view's height
const LETTER_WIDTH_EM = 0.62;

/** The spots where a label can be: beside a mark's extreme points in each direction, and along a line.
 * @param {Float32Array} at pixels, gaps NaN @param {boolean} line @returns {Spot[]} */
export function spots(at, line) {
  const visible = Array.from({ length: at.length / 2 }, (_, i) => i).filter((i) => !Number.isNaN(at[2 * i]));
  if (!visible.length) return [];
  const ends = DIRECTIONS.map(([dx, dy]) => {
    const reach = (/** @type {number} */ i) => at[2 * i] * dx + at[2 * i + 1] * dy;
    const end = visible.reduce((best, i) => (reach(i) > reach(best) ? i : best));
    return /** @type {Spot} */ ([at[2 * end], at[2 * end + 1], dx, dy]);
  });
  const along = Array.from({ length: line ? SPOTS_ALONG_LINE - 1 : 0 }, (_, k) => {
    const i = visible[Math.floor(((k + 1) * (visible.length - 1)) / SPOTS_ALONG_LINE)];
    return LINE_DIRECTIONS.map(([dx, dy]) => /** @type {Spot} */ ([at[2 * i], at[2 * i + 1], dx, dy]));
  });
  return [...ends, ...along.flat()];
}

/** Whether a reader can see a line: it is long enough, and its bounding box meets the panel's.
 * @param {Float32Array} at pixels, gaps NaN @param {Box} room */
export function lineVisible(at, room) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < at.length; i += 2) {
    if (Number.isNaN(at[i]) || Number.isNaN(at[i + 1])) continue;
    [left, right] = [Math.min(left, at[i]), Math.max(right, at[i])];
    [top, bottom] = [Math.min(top, at[i + 1]), Math.max(bottom, at[i + 1])];
  }
  const [wide, tall] = [right - left, bottom - top];
  // a horizontal or vertical line has a box without height or width; overlap() asks for a part of a pixel
  return Math.max(wide, tall) >= MIN_LINE_PX && overlap([left, top, wide + 0.1, tall + 0.1], room);
}

/** Whether two boxes overlap. @param {Box} a @param {Box} b */
const overlap = (a, b) =>
  a[0] < b[0] + b[2] && b[0] < a[0] + a[2] && a[1] < b[1] + b[3] && b[1] < a[1] + a[3];

/** Place each label in a box inside `room`, without overlapping points and other boxes; null if there is no
 * place. @param {{wide: number, tall: number, spots: Spot[], gap?: number}[]} labels each at a gap from its
 * mark @param {Box} room @param {Box[]} taken @param {Float32Array} points @returns {(Box | null)[]} */
export function placed(labels, room, taken, points) {
  const occupied = [...taken];
  const free = (/** @type {Box} */ [left, top, wide, tall]) => {
    for (let i = 0; i < points.length; i += 2)
      if (points[i] > left && points[i] < left + wide && points[i + 1] > top && points[i + 1] < top + tall)
        return false;
    return true;
  };
  return labels.map(({ wide, tall, spots, gap = LABEL_GAP_PX }) => {
    for (const [x, y, dx, dy] of spots) {
      // the nearest corner or side of the box is at the mark
      const [right, down] = [dx, dy].map((d) => Math.max(-1, Math.min(1, CORNER_STEEPNESS * d)));
      const left = x + right * (wide / 2 + gap) - wide / 2;
      const top = y + down * (tall / 2 + gap) - tall / 2;
      const box = /** @type {Box} */ ([left, top, wide, tall]);
      const inside =
        left >= room[0] &&
        top >= room[1] &&
        left + wide <= room[0] + room[2] &&
        top + tall <= room[1] + room[3];
      if (!inside || occupied.some((other) => overlap(box, other)) || !free(box)) continue;
      occupied.push([
        left - LABEL_MARGIN_PX,
        top - LABEL_MARGIN_PX / 2,
        wide + 2 * LABEL_MARGIN_PX,
        tall + LABEL_MARGIN_PX,
      ]);
      return box;
    }
    return null;
  });
}

/** The points of a line, with more points in between where they are far apart. @param {Float32Array} at */
function dense(at) {
  const out = [];
  for (let i = 0; i < at.length; i += 2) {
    const [x, y, u, v] = at.subarray(i, i + 4);
    const length = Math.hypot(u - x, v - y);
    out.push(x, y);
    for (let s = LINE_SAMPLE_PX; s < length; s += LINE_SAMPLE_PX)
      out.push(x + ((u - x) * s) / length, y + ((v - y) * s) / length);
  }
  return Float32Array.from(out);
}

/** Reserve room for the whole legend, however much of it is visible later: so the figure keeps its size.
 * @param {HTMLElement} legend */
export function reserveLegend(legend) {
  const rows = /** @type {HTMLElement[]} */ ([...legend.children]).map((item) => ({
    item,
    l: Number(item.dataset.layer),
    movable: "movable" in item.dataset,
    repeated: isRepeated(item, legend),
  }));
  for (const { item, repeated } of rows) {
    item.classList.remove("named");
    item.hidden = repeated;
  }
  const rowHeight = LEGEND_ROW_EM * parseFloat(getComputedStyle(legend).fontSize);
  const view = /** @type {HTMLElement} */ (legend.parentElement);
  const most = Math.max(
    rowHeight,
    Math.min(MAX_LEGEND_ROWS * rowHeight, MAX_LEGEND_SHARE * view.clientHeight),
  );
  const height = Math.min(legend.offsetHeight, most);
  if (height > rowHeight) view.style.paddingBottom = `${height}px`;
  return { rows, most };
}

/** Place the labels of a panel, and leave the others in its legend. @param {Panel} panel */
export function name(panel) {
  const { gd, view, frame } = panel;
  const legend = gd.parentElement.querySelector(".legend");
  // a growing recipe has no frame yet
  if (panel.closed || !gd.clientWidth || !legend || frame.length !== view.layers.length) return;
  gd.classList.remove("turning");
  const size = /** @type {[number, number]} */ ([gd.clientWidth, gd.clientHeight]);
  const camera = panel.is3d ? panel.camera() : null;
  const at = frame.map((drawn) => pixels(panel, drawn, camera, size));
  const room = /** @type {Box} */ (panel.is3d ? [2, 2, size[0] - 4, size[1] - 4] : panel.axesBox);
  const seen = (/** @type {number} */ l) =>
    frame[l].opacity > MIN_OPACITY && (view.layers[l].draws !== "line" || lineVisible(at[l], room));
  const sampled = at.map((points, l) => (view.layers[l].draws === "line" ? dense(points) : points));
  const { rows, most } = reserveLegend(legend);
  for (const { item, l } of rows) item.hidden = !seen(l);
  const taken = blocked(panel, at, seen);
  const points = view.layers.flatMap(({ draws }, l) =>
    seen(l) && (draws === "points" || draws === "line") ? sample(sampled[l]) : [],
  );
  const candidates = rows.filter(({ item, movable }) => movable && !item.hidden);
  for (const { item } of candidates) item.classList.add("named");
  const labels = candidates.map(({ item, l }) => ({
    wide: item.offsetWidth,
    tall: item.offsetHeight,
    spots: spots(sampled[l], view.layers[l].draws === "line"),
    gap: LABEL_GAP_PX + Math.max(0, radius(view.layers[l], view.dims) - SMALL_POINT_PX / 2),
  }));
  const boxes = placed(labels, room, taken, Float32Array.from(points));
  boxes.forEach((box, k) => candidates[k].item.classList.toggle("named", Boolean(box)));
  const unnamed = rows.filter(({ item }) => !item.classList.contains("named"));
  for (const { item, repeated } of unnamed) if (repeated) item.hidden = true;
  for (const { item } of unnamed.reverse()) {
    if (legend.offsetHeight <= most) break;
    item.hidden = true; // the figure takes priority
  }
  boxes.forEach((box, k) => {
    if (box)
      Object.assign(candidates[k].item.style, {
        left: `${gd.offsetLeft + box[0] - legend.offsetLeft}px`,
        top: `${gd.offsetTop + box[1] - legend.offsetTop}px`,
      });
  });
}

/** The radius of a mark's points in pixels; 0 for other marks. @param {Mark} mark @param {number} dims */
const radius = (mark, dims) => (mark.draws === "points" ? (DIAMETER_OVER_SIZE[dims] * mark.size) / 2 : 0);

/** Whether the legend of an earlier view has the same entry. @param {HTMLElement} item
 * @param {Element} legend */
function isRepeated(item, legend) {
  const legends = [...(legend.closest(".views")?.querySelectorAll(".legend") ?? [])];
  const color = (/** @type {Element} */ element) => element.getAttribute("style")?.split(";")[0];
  return legends
    .slice(0, legends.indexOf(legend))
    .flatMap((before) => [...before.children])
    .some(
      (other) =>
        other.getClientRects().length > 0 &&
        other.textContent === item.textContent &&
        color(other) === color(item),
    );
}

/** The boxes that labels must not cover: large points, texts in the figure, and elements over it.
 * @param {Panel} panel @param {Float32Array[]} at @param {(l: number) => boolean} seen @returns {Box[]} */
function blocked({ gd, view }, at, seen) {
  const boxes = /** @type {Box[]} */ ([]);
  view.layers.forEach((mark, l) => {
    const r = radius(mark, view.dims);
    const large = mark.draws === "points" && mark.size > SMALL_POINT_PX;
    if (!seen(l)) return;
    for (let i = 0; i < at[l].length; i += 2) {
      const [x, y] = at[l].subarray(i, i + 2);
      if (large && at[l].length <= 2 * MAX_BLOCKING_POINTS && !Number.isNaN(x))
        boxes.push([x - r, y - r, 2 * r, 2 * r]);
      if (mark.draws !== "labels") continue;
      const { text, textfont } = view.figure.data[l];
      const tall = textfont.size;
      const wide = LETTER_WIDTH_EM * tall * [...text[i / 2]].length + 4;
      boxes.push([x - wide / 2, y - 1.4 * tall, wide, 2.2 * tall]); // Plotly writes above a point, we at it
    }
  });
  const origin = gd.getBoundingClientRect();
  for (const over of gd
    .closest(".stage")
    ?.querySelectorAll(".formula, .headline, .edge, .handle, .picture, .guide") ?? []) {
    const { left, top, width, height } = over.getBoundingClientRect();
    // a headline has no height of its own
    if (width) boxes.push([left - origin.left, top - origin.top, width, Math.max(height, over.scrollHeight)]);
  }
  return boxes;
}

/** Some of many points, evenly. @param {Float32Array} at */
function sample(at) {
  const step = 2 * Math.max(1, Math.ceil(at.length / 2 / MAX_SAMPLED_POINTS));
  const out = [];
  for (let i = 0; i < at.length; i += step) if (!Number.isNaN(at[i])) out.push(at[i], at[i + 1]);
  return out;
}

/**
 * The points of a layer in pixels of the panel.
 * @param {Panel} panel @param {import("./painter.mjs").Drawn} drawn @param {import("./painter.mjs").Camera |
 * null} camera @param {[number, number]} size
 */
function pixels(panel, { points }, camera, [width, height]) {
  if (camera) return flat(points, panel.ranges, camera, width, height);
  const out = new Float32Array(points.length);
  for (let i = 0; i < points.length; i += 2) out.set(panel.pixel(points[i], points[i + 1]), i);
  return out;
}
