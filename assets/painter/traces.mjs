// @ts-check
/**
 * Convert a frame of a view to the traces and layout from which Plotly's public functions draw it.
 *
 * @typedef {import("./painter.mjs").Drawn} Drawn
 * @typedef {import("./painter.mjs").Panel} Panel
 * @typedef {import("./painter.mjs").Camera} Camera
 * @typedef {import("../engine/crowds.mjs").Crowd} Crowd
 * @typedef {import("../engine/engine.mjs").Trace} Trace
 * @typedef {import("../engine/engine.mjs").View} View
 * @typedef {import("../globals.mjs").Plotly} Plotly
 */

import { legible } from "../engine/crowds.mjs";
import { IDENTITY_ZOOM, widened } from "../engine/perspective.mjs";
import { resolve } from "./colors.mjs";

// a 3D figure whose smaller side has at least this many pixels, at scale 1, draws points in their own size
const FULL_SIZE_PX = 420;
const MIN_POINT_SCALE = 0.65; // the smallest factor on the sizes of points in a smaller figure, at scale 1
const COUNT_HEIGHT_PX = 13; // height of the labels that count points in the same place, at scale 1
const DOT_GAP = "\u2002\u2009"; // en space, thin space: a count begins beside its dot, or a ring around it

/** A position outside a 3D view, in display coordinates. Hidden points are put there, because WebGL needs a
 * position for every marker. On each axis, taken at its widest, the position is one length of the axis beyond
 * the upper end. It is not farther away, because Plotly scales its scene to the farthest marker.
 * @param {View} view */
export function outside({ ranges, zooms, wider }) {
  const largest = (/** @type {number[][]} */ rows, /** @type {number} */ k) =>
    Math.max(...rows.map((row) => row[k] ?? 0));
  const stages = [IDENTITY_ZOOM, ...zooms];
  const parameters = wider.map((each) => each.zooms.flat());
  const factor = largest(stages, 0) * Math.max(1, ...parameters.map((rows) => largest(rows, 0)));
  const shifts = ranges.map((_, r) =>
    parameters.reduce((sum, rows) => sum + largest(rows, r + 1), largest(stages, r + 1)),
  );
  return widened(ranges, [factor, ...shifts]).map(([low, high]) => 2 * high - low);
}

/** Width and height of a figure in pixels; both 0 before the figure is built. @param {Plotly} gd Plotly's
 * element of the figure @returns {{width: number, height: number}} */
export const size = ({ layout }) => ({ width: layout?.width ?? 0, height: layout?.height ?? 0 });

/** The factor on the sizes of points in a 3D panel. It is the panel's `scale`; less in a small panel, as on a
 * telephone, so that points cover less of one another. @param {Panel} panel */
export function pointScale({ gd, scale }) {
  const { width, height } = size(gd);
  const fullSize = Math.min(width, height) / (scale * FULL_SIZE_PX);
  return scale * Math.max(MIN_POINT_SCALE, Math.min(1, fullSize));
}

/** Enlarge, in place, the texts, margins, lines and points of Plotly's traces and layout; not the points in
 * 3D, which the shaders enlarge. @param {Trace[]} data the traces @param {Record<string, any>} layout
 * @param {View["layers"]} layers the marks of the traces @param {number} scale the factor on all sizes */
export function enlarge(data, layout, layers, scale) {
  const axes = [layout.xaxis, layout.yaxis].filter(Boolean);
  const fonts = [layout.font, ...axes.flatMap(({ title, tickfont }) => [title.font, tickfont])];
  for (const font of [...fonts, ...data.flatMap(({ textfont }) => textfont ?? [])]) font.size *= scale;
  for (const { title } of axes) title.standoff *= scale;
  for (const side of Object.keys(layout.margin)) layout.margin[side] *= scale;
  data.forEach(({ type, line, marker }, l) => {
    const layer = layers[l];
    if (line) line.width *= scale;
    if (type === "scatter" && marker?.size) marker.size *= scale;
    if (type === "scatter" && layer.draws === "line" && layer.pattern.length)
      line.dash = layer.pattern.map((length) => `${length * scale}px`).join();
  });
}

/** The rectangle of a 2D figure's axes: left, top, width and height in pixels. It is the figure without its
 * margins; if both axes must have the same scale, the largest centred rectangle in it that allows this.
 * @param {Plotly} gd Plotly's element of the figure @returns {[number, number, number, number]} */
export function axesBox({ layout: { width, height, margin, xaxis, yaxis } }) {
  const wide = width - margin.l - margin.r;
  const tall = height - margin.t - margin.b;
  const [x, y] = [xaxis, yaxis].map(({ range: [low, high] }) => high - low);
  const unit = Math.min(wide / x, tall / y);
  const [w, h] = yaxis.scaleanchor ? [unit * x, unit * y] : [wide, tall];
  return [margin.l + (wide - w) / 2, margin.t + (tall - h) / 2, w, h];
}

/** A vector in space, in Plotly's format {x, y, z}. @param {number[]} vector */
const named = ([x, y, z]) => ({ x, y, z });

/** A camera in Plotly's format, upright. @param {Camera} camera */
export const plotlyCamera = ({ eye, center }) => ({
  eye: named(eye),
  center: named(center),
  up: named([0, 0, 1]),
});

/** Plotly's traces and layout for the current frame of a panel. @param {Panel} panel @param {Camera | null}
 * camera @param {Crowd[]} crowds places where many points coincide; each is labelled with the number of
 * points @returns {{data: Trace[], layout: Record<string, any>}} */
export function figure(panel, camera, crowds) {
  const { view, frame, gd } = panel;
  const { data, layout } = /** @type {{data: Trace[], layout: Record<string, any>}} */ (
    resolve(view.figure, panel.color)
  );
  const axes = layout.scene ?? layout;
  const traces = data.map((trace, l) => filled(view, { ...trace, uid: `layer-${l}` }, frame[l]));
  panel.ranges.forEach((range, r) => {
    axes[`${"xyz"[r]}axis`].range = range;
  });
  if (panel.scale !== 1) enlarge(traces, layout, view.layers, panel.scale);
  if (crowds.length) traces.push(counted(panel, crowds, layout.font));
  if (layout.scene && camera) layout.scene.camera = { ...layout.scene.camera, ...plotlyCamera(camera) };
  const before = size(gd); // a hidden figure keeps its size
  Object.assign(layout, { width: gd.clientWidth || before.width, height: gd.clientHeight || before.height });
  return { data: traces, layout };
}

/** The text trace that labels crowds (places where several points coincide) with their counts, such as “×12”.
 * Labels that would overlap others are left out. @param {Panel} panel @param {Crowd[]} all the crowds
 * @param {Record<string, any>} font Plotly's font of the figure @returns {Trace} */
function counted(panel, all, { family, color }) {
  const { dims } = panel.view;
  const height = COUNT_HEIGHT_PX * panel.scale;
  const [bottom, top] = panel.ranges[1];
  const crowds = legible(all, panel.pixels(Float32Array.from(all.flatMap(({ place }) => place))), height);
  const coordinates = Object.fromEntries(
    [..."xyz"].slice(0, dims).map((name, r) => [name, crowds.map(({ place }) => place[r])]),
  );
  const sides = crowds.map(({ place: [x, y] }) => labelPosition(x, y, top - bottom));
  const texts2d = crowds.map(({ count }, k) =>
    sides[k].endsWith("left") ? `×${count}${DOT_GAP}` : `${DOT_GAP}×${count}`,
  );
  return {
    type: dims === 3 ? "scatter3d" : "scatter",
    mode: "text",
    uid: "crowds",
    ...coordinates,
    text: dims === 3 ? crowds.map(({ count }) => `×${count}`) : texts2d,
    textposition: dims === 3 ? "top right" : sides,
    textfont: { size: height, family, color },
    hoverinfo: "skip",
    showlegend: false,
    cliponaxis: false,
  };
}

/**
 * Put the positions, opacity, colour values and hover texts of a drawn layer into its Plotly trace; returns
 * the trace. In 3D, hidden points (NaN) of a trace of markers are put outside the view. @param {View} view
 * @param {Trace} trace @param {Drawn} drawn
 */
function filled(view, trace, drawn) {
  const k = view.dims;
  const hidden = k === 3 && trace.mode === "markers" ? outside(view) : null;
  for (let r = 0; r < k; r++)
    trace["xyz"[r]] = Array.from({ length: drawn.points.length / k }, (_, i) => {
      const x = drawn.points[i * k + r];
      return hidden && x !== x ? hidden[r] : x;
    });
  // our shader cuts a disc out of a square; that is faster to build and to move than Plotly's circle
  if (k === 3 && trace.marker?.symbol === "circle") trace.marker.symbol = "square";
  trace.opacity = drawn.opacity;
  if (drawn.text) trace.hovertext = drawn.text;
  if (drawn.values && trace.type === "mesh3d") trace.intensity = Array.from(drawn.values);
  else if (drawn.values && trace.marker) trace.marker.color = Array.from(drawn.values);
  return trace;
}

/** The `textposition` of the count at the place (x, y) of a 2D view: towards the vertical axis and away from
 * the horizontal one, so that an arrow from the origin to the place does not cover the count. @param {number}
 * x @param {number} y @param {number} high the height of the view in axis units; a place on the horizontal
 * axis, or at most high/100 below it, counts as above the axis */
const labelPosition = (x, y, high) => `${y > -high / 100 ? "top" : "bottom"} ${x > 0 ? "left" : "right"}`;
