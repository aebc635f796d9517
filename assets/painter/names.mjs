// @ts-check
/**
 * Names of marks in the picture: move the titles of marks from the legend to free places beside the marks.
 * Titles for which there is no room stay in the legend, or are hidden if it is full. This is done only at
 * rest, when nothing moves, and only for visible marks. In an exported film, each title has one place for the
 * whole film: beside the mark if the mark does not move, otherwise in the legend. `name` and `reserveLegend`
 * change the page; the other exports are pure.
 *
 * @typedef {[number, number, number, number]} Box left, top, width and height, in pixels
 * @typedef {number[]} Spot x and y of a point of a mark, in pixels, and the direction (x, y) from there in
 *   which its label can be
 * @typedef {[number, number, number]} Disc x and y of the centre of a large point, and its radius, in pixels
 * @typedef {import("./painter.mjs").Panel} Panel
 * @typedef {import("./painter.mjs").PixelFrame} PixelFrame
 * @typedef {import("../engine/recipe.d.ts").Mark} Mark
 */

import { pointScale } from "./traces.mjs";

const LABEL_GAP_PX = 6; // distance between a mark and its label
const SMALL_RADIUS_PX = 4; // labels may cover a point up to this radius, except for its centre
// upper bounds of the drawn diameter of a point, divided by its size, for views with 2 and 3 dimensions: in
// 3D Plotly draws points 1.9 times as large as their size, and near points up to 1 / 0.6 times larger
const DIAMETER_OVER_SIZE = [NaN, NaN, 1.6, 3.2];
const MAX_BLOCKING_POINTS = 60; // large points block labels only if their mark has at most this many
const SAME_PLACE_PX = 1; // a spot this near to the centre of a disc is moved to the disc's rim
const LABEL_MARGIN_PX = 9; // free space left and right of a label; half of that above and below
const DIRECTIONS = Array.from({ length: 16 }, (_, k) =>
  [Math.cos, Math.sin].map((f) => f((k * Math.PI) / 8)),
);
const LINE_DIRECTIONS = [[1, 0], [-1, 0], [0.7, -0.7], [-0.7, 0.7], [0, -1], [0, 1]]; // prettier-ignore
// In directions more than 22° off the horizontal and the vertical, the label's nearest corner is put at the
// mark; in other directions, the middle of the label's nearest side.
const CORNER_STEEPNESS = 2.7;
const SPOTS_ALONG_LINE = 9;
const MAX_SAMPLED_POINTS = 600; // points of each mark that labels must not cover
const LINE_SAMPLE_PX = 10; // distance of sampled points on a line
const MIN_OPACITY = 0.03; // a mark with less opacity counts as invisible
const MIN_LINE_PX = 2; // a shorter line counts as invisible
const STILL_PX = 0.5; // a mark whose points move by at most this distance along each axis counts as unmoved
const LEGEND_ROW_EM = 1.8; // the legend always has the height of one row
const MAX_LEGEND_ROWS = 3;
const MAX_LEGEND_ROWS_FILM = 5; // in an exported film, where the titles of moving marks stay in the legend
const MAX_LEGEND_SHARE = 0.3; // largest height of a legend, as a share of the height of its view
const LETTER_WIDTH_EM = 0.62;
const LINE_HEIGHT_EM = 1.4;

/** A factor from −1 to 1 for the offset of a label from its spot, along the x- or y-axis. At ±1 the whole
 * label lies beside the spot; at 0 its middle is at the spot. @param {number} d the component of the spot's
 * direction along this axis */
const steep = (d) => Math.max(-1, Math.min(1, CORNER_STEEPNESS * d));

/** The points that are no gaps, as [x, y]. @param {Float32Array} at x and y of each point, NaN for gaps */
function present(at) {
  const points = [];
  for (let i = 0; i < at.length; i += 2) if (!Number.isNaN(at[i])) points.push([at[i], at[i + 1]]);
  return points;
}

/** The spots at which a mark's label can be put, in the order in which they are tried: first beside the
 * mark's outermost point in each of 16 directions; then, if the mark is a line, beside several points along
 * it. A spot lies at its point or, if a disc is drawn there, on the rim of the disc. The disc can be the
 * point itself, or a large point of another mark, as at the tip of an arrow. Returns [] if the mark has no
 * visible points. @param {Float32Array} at x and y of the mark's points in pixels, NaN for gaps @param
 * {boolean} line whether the mark is a line @param {number} [radius] of the mark's points, in pixels @param
 * {Disc[]} [discs] the large points of all marks @returns {Spot[]} */
export function spots(at, line, radius = 0, discs = []) {
  const points = present(at);
  if (!points.length) return [];
  const ends = DIRECTIONS.map(([dx, dy]) => {
    const reach = (/** @type {number[]} */ [x, y]) => x * dx + y * dy;
    return [...points.reduce((end, point) => (reach(point) > reach(end) ? point : end)), dx, dy];
  });
  const along = Array.from({ length: line ? SPOTS_ALONG_LINE - 1 : 0 }, (_, k) => {
    const point = points[Math.floor(((k + 1) * (points.length - 1)) / SPOTS_ALONG_LINE)];
    return LINE_DIRECTIONS.map((direction) => [...point, ...direction]);
  });
  return [...ends, ...along.flat()].map(([x, y, dx, dy]) => {
    const here = discs.filter(([u, v]) => Math.hypot(u - x, v - y) < SAME_PLACE_PX).map(([, , r]) => r);
    const rim = Math.max(0, Math.max(radius, ...here) - LABEL_GAP_PX / 2);
    return [x + steep(dx) * rim, y + steep(dy) * rim, dx, dy];
  });
}

/** Whether a reader can see a line: the line's bounding box is not tiny, and overlaps the panel. @param
 * {Float32Array} at x and y of the line's points in pixels, NaN for gaps @param {Box} room the panel */
export function lineVisible(at, room) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of present(at)) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  const [wide, tall] = [right - left, bottom - top];
  // 0.1 because the box of a horizontal or vertical line is empty, and would overlap nothing
  return Math.max(wide, tall) >= MIN_LINE_PX && overlap([left, top, wide + 0.1, tall + 0.1], room);
}

/** Whether two boxes overlap. @param {Box} a @param {Box} b */
const overlap = (a, b) =>
  a[0] < b[0] + b[2] && b[0] < a[0] + a[2] && a[1] < b[1] + b[3] && b[1] < a[1] + a[3];

/** Whether a box lies inside another. @param {Box} a @param {Box} b the other */
const inside = (a, b) =>
  a[0] >= b[0] && a[1] >= b[1] && a[0] + a[2] <= b[0] + b[2] && a[1] + a[3] <= b[1] + b[3];

/** Find a box for each label. A label takes the first of its spots at which its box lies inside `room`,
 * covers none of `points`, and overlaps neither a box in `taken` nor an earlier label. Null for a
 * label that fits at none of its spots. All lengths are in pixels. @param {{wide: number, tall: number,
 * spots: Spot[]}[]} labels @param {Box} room @param {Box[]} taken boxes that labels must not overlap @param
 * {Float32Array} points x and y of points that labels must not cover @returns {(Box | null)[]} */
export function placed(labels, room, taken, points) {
  const occupied = [...taken];
  const free = (/** @type {Box} */ [left, top, wide, tall]) => {
    for (let i = 0; i < points.length; i += 2)
      if (points[i] > left && points[i] < left + wide && points[i + 1] > top && points[i + 1] < top + tall)
        return false;
    return true;
  };
  return labels.map(({ wide, tall, spots }) => {
    // the box's nearest corner or side is at the spot
    const boxes = spots.map(([x, y, dx, dy]) => {
      const left = x + steep(dx) * (wide / 2 + LABEL_GAP_PX) - wide / 2;
      const top = y + steep(dy) * (tall / 2 + LABEL_GAP_PX) - tall / 2;
      return /** @type {Box} */ ([left, top, wide, tall]);
    });
    const box = boxes.find(
      (each) => inside(each, room) && !occupied.some((other) => overlap(each, other)) && free(each),
    );
    if (!box) return null;
    const [across, down] = [LABEL_MARGIN_PX, LABEL_MARGIN_PX / 2];
    occupied.push([box[0] - across, box[1] - down, wide + 2 * across, tall + 2 * down]);
    return box;
  });
}

/** Add points to a line: between neighbouring points, one every LINE_SAMPLE_PX pixels from the first of them.
 * @param {Float32Array} at x and y of each point, in pixels */
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

/** Put all titles of a view back into its legend, and reserve room for them below the view, so that the
 * figure keeps its size when titles are moved or hidden later. A title that the legend of an earlier view
 * shows too is hidden at once. Room for one row is always there. For a legend of several rows, the view gets
 * a bottom padding as high as the legend, but at most the height that a legend may have. Returns this height
 * in pixels (`most`), and a list `rows` with an object for each entry of the legend: the element `item`, the
 * index `l` of its mark, whether the title may stand beside the mark (`movable`), and whether an earlier
 * legend shows the title (`repeated`). @param {HTMLElement} legend */
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
  const maxRows = legend.closest(".film") ? MAX_LEGEND_ROWS_FILM : MAX_LEGEND_ROWS;
  const most = Math.max(rowHeight, Math.min(maxRows * rowHeight, MAX_LEGEND_SHARE * view.clientHeight));
  const height = Math.min(legend.offsetHeight, most);
  if (height > rowHeight) view.style.paddingBottom = `${height}px`;
  return { rows, most };
}

/** Whether a mark has the same points in several frames. @param {Float32Array[]} all for each frame, x and
 * y of the mark's points in pixels, NaN for gaps */
export const unmoved = ([first, ...others]) =>
  others.every(
    (at) =>
      at.length === first.length &&
      at.every((x, i) => Math.abs(x - first[i]) <= STILL_PX || (Number.isNaN(x) && Number.isNaN(first[i]))),
  );

/** For each mark, two values. `still`: whether the mark is visible in all frames, and has the same points in
 * all. `at`: for each frame in which the mark is visible, an array with x and y of its points; if `still` is
 * true, only the array of the first frame. @param {Panel} panel @param {PixelFrame[]} frames */
function visible({ view, drawingBox }, frames) {
  return view.layers.map(({ draws }, l) => {
    const all = frames
      .filter(({ frame }) => frame[l].opacity > MIN_OPACITY)
      .map(({ at }) => at[l])
      .filter((at) => draws !== "line" || lineVisible(at, drawingBox));
    const still = all.length === frames.length && unmoved(all);
    return { still, at: still ? all.slice(0, 1) : all };
  });
}

/** Show the titles of a panel's visible marks: beside the marks where there is room, otherwise in the legend.
 * Titles for which the legend is not high enough are hidden. In a film (`panel.filmFrames`), a title
 * stands beside its mark only if the mark is visible and at the same place in all frames, and if no mark
 * passes over the title. @param {Panel} panel */
export function name(panel) {
  const { gd, view, frame } = panel;
  const legend = gd.parentElement.querySelector(".legend");
  // while a training adds layers to the recipe, the view can have more layers than the frame
  if (panel.closed || !gd.clientWidth || !legend || frame.length !== view.layers.length) return;
  gd.classList.remove("turning");
  const seen = visible(panel, panel.filmFrames.length ? panel.filmFrames : [panel.pixelFrame]);
  const at = seen.map((each) => each.at);
  const sampled = at.map((all, l) => (view.layers[l].draws === "line" ? all.map(dense) : all));
  const { rows, most } = reserveLegend(legend);
  for (const { item, l } of rows) item.hidden = !at[l].length;
  const radii = view.layers.map((mark) => radius(mark, panel));
  const discs = at.flatMap((all, l) => all.flatMap((points) => largePoints(points, radii[l])));
  const taken = [
    ...discs.map(([x, y, r]) => /** @type {Box} */ ([x - r, y - r, 2 * r, 2 * r])),
    ...blocked(panel, at),
  ];
  const points = view.layers.flatMap(({ draws }, l) =>
    draws === "points" || draws === "line" ? sampled[l].flatMap(sample) : [],
  );
  const candidates = rows.filter(({ l, movable }) => movable && seen[l].still);
  for (const { item } of candidates) item.classList.add("named");
  const labels = candidates.map(({ item, l }) => ({
    wide: item.offsetWidth,
    tall: item.offsetHeight,
    spots: spots(sampled[l][0], view.layers[l].draws === "line", radii[l], discs),
  }));
  const boxes = placed(labels, panel.drawingBox, taken, Float32Array.from(points));
  boxes.forEach((box, k) => candidates[k].item.classList.toggle("named", Boolean(box)));
  const unnamed = rows.filter(({ item }) => !item.classList.contains("named"));
  for (const { item, repeated } of unnamed) item.hidden ||= repeated;
  for (const { item } of unnamed.reverse()) {
    if (legend.offsetHeight <= most) break;
    item.hidden = true; // the figure must not shrink for the legend
  }
  boxes.forEach((box, k) => {
    if (box)
      Object.assign(candidates[k].item.style, {
        left: `${gd.offsetLeft + box[0] - legend.offsetLeft}px`,
        top: `${gd.offsetTop + box[1] - legend.offsetTop}px`,
      });
  });
}

/** The largest radius in pixels with which a mark's points are drawn; 0 for marks that draw no points. @param
 * {Mark} mark @param {Panel} panel */
const radius = (mark, panel) =>
  mark.draws === "points"
    ? (DIAMETER_OVER_SIZE[panel.view.dims] * mark.size * (panel.is3d ? pointScale(panel) : panel.scale)) / 2
    : 0;

/** The discs that labels must not overlap: the points of a mark; [] if they are small or many. @param
 * {Float32Array} at x and y of the points in pixels, NaN for gaps @param {number} radius of the points, in
 * pixels @returns {Disc[]} */
export const largePoints = (at, radius) =>
  radius <= SMALL_RADIUS_PX || at.length > 2 * MAX_BLOCKING_POINTS
    ? []
    : present(at).map(([x, y]) => [x, y, radius]);

/** Whether the legend of an earlier view of the same figure has a visible entry with this text and colour.
 * @param {HTMLElement} item an entry of a legend @param {Element} legend the legend of this entry */
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

/** The boxes in the figure that labels must not overlap: texts, and page elements that lie over the figure.
 * @param {Panel} panel @param {Float32Array[][]} at for each layer, and each frame in which it is visible, x
 * and y of its points in pixels @returns {Box[]} */
function blocked(panel, at) {
  const { gd, view, scale } = panel;
  const boxes = /** @type {Box[]} */ ([]);
  view.layers.forEach((mark, l) => {
    if (mark.draws !== "labels") return;
    const { text, textfont } = view.figure.data[l];
    const tall = textfont.size * scale;
    for (const points of at[l])
      for (let i = 0; i < points.length; i += 2) {
        const [x, y] = points.subarray(i, i + 2);
        const wide = LETTER_WIDTH_EM * tall * [...text[i / 2]].length + 2 * LABEL_MARGIN_PX;
        boxes.push([x - wide / 2, y - 1.4 * tall, wide, 2.2 * tall]); // Plotly's text is above it, ours at it
      }
  });
  boxes.push(...counts(panel));
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

/** The boxes of the labels that count coinciding points, such as “×12”. @param {Panel} panel @returns {Box[]}
 */
function counts(panel) {
  const trace = panel.gd.data.find((/** @type {{uid: string}} */ { uid }) => uid === "crowds");
  if (!trace) return [];
  const { text, textposition, textfont } = trace;
  const axes = [..."xyz"].slice(0, panel.view.dims);
  return text.map((/** @type {string} */ word, /** @type {number} */ i) => {
    const [x, y] = panel.pixels(Float32Array.from(axes, (axis) => trace[axis][i]));
    const [side, end] = (panel.is3d ? textposition : textposition[i]).split(" ");
    const [wide, tall] = [LETTER_WIDTH_EM * textfont.size * word.length, LINE_HEIGHT_EM * textfont.size];
    return [end === "left" ? x - wide : x, side === "top" ? y - tall : y, wide, tall];
  });
}

/** Select at most MAX_SAMPLED_POINTS points of a mark, evenly spaced by index, without gaps (NaN). Returns x
 * and y of each selected point. @param {Float32Array} at x and y of each point, in pixels */
function sample(at) {
  const points = present(at);
  const step = Math.ceil(points.length / MAX_SAMPLED_POINTS);
  return points.filter((_, i) => i % step === 0).flat();
}
