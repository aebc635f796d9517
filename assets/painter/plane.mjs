// @ts-check
/**
 * Panels of 2D views. A panel has two canvases besides Plotly's picture. The canvas below Plotly's axes
 * always shows the view's fields and cells. The canvas above the axes shows all other layers while something
 * moves; at rest Plotly draws those layers.
 *
 * @typedef {Extract<Mark, {draws: "points"}>} PointMark
 * @typedef {Extract<Mark, {draws: "field" | "cells"}>} Ground a mark that is drawn on the canvas below the
 *   axes
 * @typedef {(coordinate: number) => number} Scale converts a coordinate to pixels from the figure's left or
 *   top
 */

import { h, pen } from "../dom.mjs";
import { palette, resolve, shade } from "./colors.mjs";
import { Panel } from "./painter.mjs";
import { watchClicks } from "./picking.mjs";
import { axesBox, size } from "./traces.mjs";
/** @import { Trace } from "../engine/engine.mjs" */
/** @import { Color, Mark } from "../engine/recipe.d.ts" */
/** @import { Drawn } from "./painter.mjs" */

const EDGE_TOLERANCE_PX = 0.5; // a point this far outside the axes counts as at their end

/** Whether a mark is drawn on the canvas below the axes. @param {Mark} mark @returns {mark is Ground} */
const isGround = (mark) => mark.draws === "field" || mark.draws === "cells";

export class PlanePanel extends Panel {
  /** @type {unknown[]} the values from which the ground canvas was drawn last */ #groundInputs = [];
  /** @type {OffscreenCanvasRenderingContext2D | null} a canvas with one pixel per grid point */ #grid = null;
  /** @type {WeakMap<Mark, {points: Float32Array, scaleKey: string, path: Path2D}>} */ #paths = new WeakMap();
  #over = h("canvas", { className: "motion" });
  /** @type {HTMLCanvasElement | null} the canvas below the axes; null before `begin`, and
   * if the view has no fields or cells */
  groundCanvas = null;

  /** The rectangle of the axes. @override */
  get drawingBox() {
    return axesBox(this.gd);
  }

  /** Whether the ranges of the axes depend on parameters or stages. */
  get #axesMove() {
    return this.view.wider.length + this.view.zooms.length > 0;
  }

  /** @override */
  begin() {
    this.gd.append(this.#over);
    if (this.view.layers.some(isGround))
      this.gd.prepend((this.groundCanvas = h("canvas", { className: "ground" })));
    this.#align();
    this.gd.on("plotly_afterplot", () => this.#align());
    this.#watchResolution();
    watchClicks(this);
  }

  /** Redraw the canvases, so that they fit the axes that Plotly has just drawn: both canvases while marks
   * move, otherwise only the one below the axes. */
  #align() {
    if (this.closed) return;
    if (this.moving) this.draw();
    else this.#drawGround();
  }

  /** Redraw whenever the pixel ratio changes: the reader zooms the page, or moves it to another screen. */
  #watchResolution() {
    const changed = () => {
      this.#align();
      this.#watchResolution();
    };
    const options = { once: true, signal: this.life.signal };
    matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener("change", changed, options);
  }

  /** Set the ranges of the axes again if `Plotly.react` has ignored them. For axes with equal scales, `react`
   * ignores a range that is narrower than the first one, but `relayout` sets it. @override */
  async refresh() {
    const [x, y] = this.ranges;
    const { xaxis, yaxis } = this.gd.layout;
    if (JSON.stringify([xaxis.range, yaxis.range]) === JSON.stringify([x, y])) return;
    await this.Plotly.relayout(this.gd, { "xaxis.range": x, "yaxis.range": y });
  }

  /** The scales of the x-axis and the y-axis in the current frame. @returns {[Scale, Scale]} */
  get #scales() {
    const [left, top, width, height] = this.drawingBox;
    const [[west, east], [south, north]] = this.ranges;
    return [
      (x) => left + ((x - west) / (east - west)) * width,
      (y) => top + ((north - y) / (north - south)) * height,
    ];
  }

  /** @override @param {Float32Array} points */
  pixels(points) {
    const [px, py] = this.#scales;
    return points.map((x, i) => (i % 2 ? py(x) : px(x)));
  }

  /** @override @param {number} left @param {number} top */
  point(left, top) {
    const [boxLeft, boxTop, width, height] = this.drawingBox;
    const [x, y] = this.ranges;
    return [
      x[0] + ((left - boxLeft) / width) * (x[1] - x[0]),
      y[1] - ((top - boxTop) / height) * (y[1] - y[0]),
    ];
  }

  /** Draw all layers of the current frame on the two canvases. (The style sheet hides Plotly's own drawing
   * of the layers meanwhile.) If the axes move, draw the lines through 0, too: Plotly could move these only
   * by redrawing everything. @override */
  draw() {
    this.#drawGround();
    const [px, py] = this.#scales;
    const context = this.#cleared(this.#over);
    this.gd.classList.toggle("reaching", this.#axesMove);
    if (this.#axesMove) {
      const [left, top, width, height] = this.drawingBox;
      context.save();
      this.#clip(context);
      context.fillStyle = this.color("rule");
      context.fillRect(Math.round(px(0) - 0.5), top, 1, height);
      context.fillRect(left, Math.round(py(0) - 0.5), width, 1);
      context.restore();
    }
    this.frame.forEach((drawn, l) => {
      const layer = this.view.layers[l];
      if (!(drawn.opacity > 0) || isGround(layer)) return;
      context.save();
      if (layer.draws !== "points") this.#clip(context); // points at the ends of the axes are drawn whole
      this.#drawLayer(context, l, drawn, px, py);
      context.restore();
    });
  }

  /** Clip a context to the rectangle of the axes. @param {CanvasRenderingContext2D} context */
  #clip(context) {
    context.beginPath();
    context.rect(...this.drawingBox);
    context.clip();
  }

  /** Give a canvas the figure's size, clear it, and return its context. @param {HTMLCanvasElement} canvas */
  #cleared(canvas) {
    const { width, height } = size(this.gd);
    const ratio = devicePixelRatio;
    const context = pen(canvas);
    const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide || canvas.height !== tall) Object.assign(canvas, { width: wide, height: tall });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
  }

  /** Draw the fields and cells on the canvas below the axes, unless it shows them already. */
  #drawGround() {
    if (!this.groundCanvas) return;
    const { width, height } = size(this.gd);
    const groundLayers = this.frame.filter((_, l) => isGround(this.view.layers[l]));
    const inputs = [
      ...groundLayers.flatMap(({ values, points, opacity }) => [values, points, opacity]),
      ...this.frame.zoom,
      width,
      height,
      ...this.drawingBox,
      devicePixelRatio,
      this.color("paper"),
    ];
    if (inputs.every((input, i) => input === this.#groundInputs[i])) return;
    this.#groundInputs = inputs;
    const context = this.#cleared(this.groundCanvas);
    context.save();
    this.#clip(context);
    this.frame.forEach((drawn, l) => {
      if (isGround(this.view.layers[l])) this.#drawGrid(context, l, drawn);
    });
    context.restore();
  }

  /** Draw a layer that is a field or cells: make an image with one pixel per grid point, and enlarge it. A
   * field is interpolated and fills the whole view. Cells have sharp edges, and each is centred on its point.
   * @param {CanvasRenderingContext2D} context @param {number} l the index of the layer @param {Drawn} drawn
   * its points, values and opacity */
  #drawGrid(context, l, { points, values, opacity }) {
    const { color, columns, draws } = /** @type {Ground} */ (this.view.layers[l]);
    const numbers = /** @type {Float32Array} */ (values);
    const rows = numbers.length / columns;
    const scale = palette(resolve(this.view.figure.data[l].colorscale, this.color));
    const bytes = Uint8ClampedArray.from(scale.flatMap((rgb) => [...rgb, 1].map((part) => 255 * part)));
    const shades = new Uint32Array(bytes.buffer);
    const image = new ImageData(columns, rows);
    const dots = new Uint32Array(image.data.buffer);
    for (let y = 0; y < rows; y++) {
      for (let x = 0; x < columns; x++)
        dots[columns * (rows - 1 - y) + x] =
          shades[shade(numbers[columns * y + x], /** @type {Color} */ (color))];
    }
    if (this.#grid?.canvas.width !== columns || this.#grid?.canvas.height !== rows)
      this.#grid = new OffscreenCanvas(columns, rows).getContext("2d");
    const grid = /** @type {OffscreenCanvasRenderingContext2D} */ (this.#grid);
    grid.putImageData(image, 0, 0);
    const smooth = draws === "field";
    const [left, top, width, height] = this.drawingBox;
    const [px, py] = this.#scales;
    const last = points.length - 2;
    const [x, y] = smooth ? [left, top + height] : [px(points[0]), py(points[1])];
    const [right, upper] = smooth ? [left + width, top] : [px(points[last]), py(points[last + 1])];
    const dx = (right - x) / (columns - 1);
    const dy = (y - upper) / (rows - 1);
    Object.assign(context, { globalAlpha: opacity, imageSmoothingEnabled: smooth });
    context.drawImage(grid.canvas, x - dx / 2, upper - dy / 2, right - x + dx, y - upper + dy);
  }

  /** Draw a layer of labels, points or a line. @param {CanvasRenderingContext2D} context @param {number} l
   * the index of the layer @param {Drawn} drawn its points, values and opacity @param {Scale} px the scale of
   * the x-axis @param {Scale} py the scale of the y-axis */
  #drawLayer(context, l, drawn, px, py) {
    const layer = this.view.layers[l];
    const trace = this.view.figure.data[l];
    const { points, opacity } = drawn;
    const color = this.color(layer.role);
    Object.assign(context, {
      globalAlpha: opacity,
      fillStyle: color,
      strokeStyle: color,
      lineJoin: "round",
    });
    if (layer.draws === "labels") {
      Object.assign(context, {
        font: `${trace.textfont.size * this.scale}px ${trace.textfont.family}`,
        textAlign: "center",
        textBaseline: "middle",
      });
      for (let i = 0; i < points.length / 2; i++)
        context.fillText(trace.text[i], px(points[2 * i]), py(points[2 * i + 1]));
    } else if (layer.draws === "points") {
      drawMarkers(this, context, layer, trace, drawn, px, py);
    } else if (layer.draws === "line") {
      context.lineWidth = trace.line.width * this.scale;
      context.setLineDash(layer.pattern.map((length) => length * this.scale));
      context.stroke(this.#path(layer, points, px, py));
    }
  }

  /** The path of a line layer in pixels, with gaps at NaN; cached until its points or the axes move.
   * @param {Mark} layer @param {Float32Array} points @param {Scale} px the scale of the x-axis
   * @param {Scale} py the scale of the y-axis @returns {Path2D} */
  #path(layer, points, px, py) {
    const scaleKey = [px, py].map((scale) => [scale(0), scale(1)]).join();
    const known = this.#paths.get(layer);
    if (known?.points === points && known.scaleKey === scaleKey) return known.path;
    const path = new Path2D();
    for (let i = 0, joined = false; i < points.length; i += 2) {
      const x = points[i];
      if (x === x) path[joined ? "lineTo" : "moveTo"](px(x), py(points[i + 1]));
      joined = x === x;
    }
    this.#paths.set(layer, { points, scaleKey, path });
    return path;
  }

  /** @override @param {boolean} moving */
  async images(moving) {
    if (moving) this.draw(); // a panel that stays at rest may never have been drawn on the canvas
    const { data, layout } = this.gd;
    const { width, height } = size(this.gd);
    const plotly = new Image();
    const axes = ["xaxis", "yaxis"].map((name) => [name, { ...layout[name], zeroline: false }]);
    // while axes move, the lines through 0 are on the canvas
    const shown = { ...layout, ...(this.#axesMove && Object.fromEntries(axes)) };
    const figure = moving ? { data: [], layout: shown } : { data, layout };
    plotly.src = await this.Plotly.toImage(figure, { format: "svg", width, height });
    await plotly.decode();
    return [...(this.groundCanvas ? [this.groundCanvas] : []), plotly, ...(moving ? [this.#over] : [])];
  }
}

/** Draw the points of a layer as circles, rings or squares, but not those outside the axes. All points of one
 * colour are drawn by one canvas call. @param {PlanePanel} panel @param {CanvasRenderingContext2D} context
 * @param {PointMark} layer @param {Trace} trace the layer's Plotly trace @param {Drawn} drawn
 * @param {Scale} px the scale of the x-axis @param {Scale} py the scale of the y-axis */
function drawMarkers({ color, drawingBox, scale }, context, layer, trace, { points, values }, px, py) {
  const [left, top, width, height] = drawingBox;
  const [west, east] = [left - EDGE_TOLERANCE_PX, left + width + EDGE_TOLERANCE_PX];
  const [north, south] = [top - EDGE_TOLERANCE_PX, top + height + EDGE_TOLERANCE_PX];
  const diameter = layer.size * scale;
  const radius = diameter / 2;
  const square = trace.marker.symbol === "square";
  const colors =
    values && palette(resolve(trace.marker.colorscale, color)).map((c) => `rgb(${c.map((v) => v * 255)})`);
  /** @type {Map<number, number[]>} */ const groups = new Map();
  for (let i = 0; i < points.length / 2; i++) {
    const key = values ? shade(values[i], /** @type {Color} */ (layer.color)) : 0;
    const group = groups.get(key);
    if (group) group.push(i);
    else groups.set(key, [i]);
  }
  for (const [key, group] of groups) {
    if (colors) context.fillStyle = context.strokeStyle = colors[key];
    context.beginPath();
    context.lineWidth = 1.5;
    for (const i of group) {
      const x = px(points[2 * i]);
      const y = py(points[2 * i + 1]);
      if (!(x >= west && x <= east && y >= north && y <= south)) continue; // also NaN
      if (square) context.rect(x - radius, y - radius, diameter, diameter);
      else {
        context.moveTo(x + radius, y);
        context.arc(x, y, radius, 0, 2 * Math.PI);
      }
    }
    if (layer.glyph === "ring") context.stroke();
    else context.fill();
  }
}
