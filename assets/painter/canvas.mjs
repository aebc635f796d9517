// @ts-check
/**
 * The canvases of a 2D view. One lies below Plotly's axes and always shows the view's fields and cells. The
 * other lies above them and shows all other layers, but only while something moves: at rest Plotly draws
 * these. Also converts points to pixels and back.
 *
 * @typedef {import("./painter.mjs").Drawn} Drawn
 * @typedef {import("./painter.mjs").Frame} Frame
 * @typedef {import("../engine/recipe.d.ts").Mark} Mark
 * @typedef {import("../engine/recipe.d.ts").Color} Color
 * @typedef {Extract<Mark, {draws: "points"}>} PointMark
 * @typedef {Extract<Mark, {draws: "field" | "cells"}>} Ground a mark that is drawn under the axes
 * @typedef {import("../engine/engine.mjs").Trace} Trace
 * @typedef {import("../engine/engine.mjs").View} View
 * @typedef {import("../globals.mjs").Plotly} Plotly
 */

import { pen } from "../dom.mjs";
import { widened } from "../engine/perspective.mjs";
import { palette, resolve, shade } from "./colors.mjs";
import { axesBox, size } from "./traces.mjs";

/** Whether a mark is drawn on the canvas below the axes. @param {Mark} mark @returns {mark is Ground} */
const grounds = (mark) => mark.draws === "field" || mark.draws === "cells";

/** Create a canvas element with a class. @param {string} className */
const canvas = (className) => Object.assign(document.createElement("canvas"), { className });

export class Canvas {
  #gd;
  #color;
  /** @type {unknown[]} all that the drawing on the ground canvas depends on */ #grounded = [];
  /** @type {OffscreenCanvasRenderingContext2D | null} a canvas with one pixel per grid point */ #grid = null;
  /** @type {WeakMap<Mark, {points: Float32Array, place: string, path: Path2D}>} */ #paths = new WeakMap();

  /** @param {Plotly} gd @param {View} view @param {(name: string) => string} color */
  constructor(gd, view, color) {
    this.#gd = gd;
    this.#color = color;
    this.view = view;
    this.over = gd.appendChild(canvas("motion"));
    /** @type {HTMLCanvasElement | null} */ this.ground = view.layers.some(grounds) ? canvas("ground") : null;
    if (this.ground) gd.prepend(this.ground);
  }

  /** The position of a point in pixels from the figure's top left. @param {number[][]} ranges of the axes
   * @param {number} x @param {number} y */
  pixel([[west, east], [south, north]], x, y) {
    const [left, top, wide, high] = axesBox(this.#gd);
    return [left + ((x - west) / (east - west)) * wide, top + ((north - y) / (north - south)) * high];
  }

  /** The point at a pixel, counted from the figure's top left. @param {number[][]} ranges of the axes
   * @param {number} left @param {number} top */
  point([x, y], left, top) {
    const [west, north, wide, high] = axesBox(this.#gd);
    return [x[0] + ((left - west) / wide) * (x[1] - x[0]), y[1] - ((top - north) / high) * (y[1] - y[0])];
  }

  /** Draw a frame while things move: all layers, on both canvases. @param {Frame} frame @param {boolean}
   * cross whether also the lines through 0 are drawn, because the axes move */
  paint(frame, cross) {
    this.paintGround(frame);
    const ranges = widened(this.view.ranges, frame.zoom);
    const [left, top] = this.pixel(ranges, 0, 0);
    const [right, low] = this.pixel(ranges, 1, 1);
    const context = this.#cleared(this.over);
    const px = (/** @type {number} */ x) => left + x * (right - left);
    const py = (/** @type {number} */ y) => top + y * (low - top);
    if (cross) this.#cross(context, left, top);
    frame.forEach((drawn, l) =>
      this.#drawLayer(context, this.view.layers[l], this.view.figure.data[l], drawn, px, py),
    );
    context.restore();
    this.over.hidden = false;
  }

  /** Draw the lines through 0 while the axes move; Plotly would have to redraw everything for them. @param
   * {CanvasRenderingContext2D} context @param {number} x the position of 0, in pixels @param {number} y */
  #cross(context, x, y) {
    const [left, top, wide, high] = axesBox(this.#gd);
    context.fillStyle = this.#color("rule");
    context.fillRect(Math.round(x - 0.5), top, 1, high);
    context.fillRect(left, Math.round(y - 0.5), wide, 1);
  }

  /** Give a canvas the figure's size, clear it, and clip its context to the rectangle of the axes. The caller
   * must call `restore` on the returned context. @param {HTMLCanvasElement} canvas */
  #cleared(canvas) {
    const { width = 0, height = 0 } = size(this.#gd);
    const [left, top, wide, high] = axesBox(this.#gd);
    const ratio = devicePixelRatio;
    const context = pen(canvas);
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    }
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.save();
    context.beginPath();
    context.rect(left, top, wide, high);
    context.clip();
    return context;
  }

  /** Draw the fields and cells of a frame on the canvas below the axes, unless it shows them already.
   * @param {Frame} frame */
  paintGround(frame) {
    if (!this.ground) return;
    const ranges = widened(this.view.ranges, frame.zoom);
    const { width, height } = size(this.#gd);
    const own = frame.filter((_, l) => grounds(this.view.layers[l]));
    const showing = [
      ...own.flatMap(({ values, points, opacity }) => [values, points, opacity]),
      ...frame.zoom,
      width,
      height,
      ...axesBox(this.#gd),
      devicePixelRatio,
      this.#color("paper"),
    ];
    if (showing.every((part, i) => part === this.#grounded[i])) return;
    this.#grounded = showing;
    const context = this.#cleared(this.ground);
    frame.forEach((drawn, l) => {
      if (grounds(this.view.layers[l])) this.#drawGrid(context, l, drawn, ranges);
    });
    context.restore();
  }

  /** Draw a field or cells: an image with one pixel per grid point, enlarged. A field is interpolated and
   * fills the whole view; cells have sharp edges, and each lies around its point. @param
   * {CanvasRenderingContext2D} context @param {number} l the index of the layer @param {Drawn} drawn @param
   * {number[][]} ranges */
  #drawGrid(context, l, { points, values, opacity }, ranges) {
    const { color, columns, draws } = /** @type {Ground} */ (this.view.layers[l]);
    const numbers = /** @type {Float32Array} */ (values);
    const high = numbers.length / columns;
    const shades = palette(resolve(this.view.figure.data[l].colorscale, this.#color)).map(
      ([r, g, b]) =>
        ((255 << 24) | (Math.round(255 * b) << 16) | (Math.round(255 * g) << 8) | Math.round(255 * r)) >>> 0,
    ); // little endian
    const image = new ImageData(columns, high);
    const dots = new Uint32Array(image.data.buffer);
    for (let y = 0; y < high; y++) {
      for (let x = 0; x < columns; x++)
        dots[columns * (high - 1 - y) + x] =
          shades[shade(numbers[columns * y + x], /** @type {Color} */ (color))];
    }
    if (this.#grid?.canvas.width !== columns || this.#grid?.canvas.height !== high)
      this.#grid = new OffscreenCanvas(columns, high).getContext("2d");
    const grid = /** @type {OffscreenCanvasRenderingContext2D} */ (this.#grid);
    grid.putImageData(image, 0, 0);
    const smooth = draws === "field";
    const [left, top, wide, tall] = axesBox(this.#gd);
    const last = points.length - 2;
    const [x, y] = smooth ? [left, top + tall] : this.pixel(ranges, points[0], points[1]);
    const [right, upper] = smooth ? [left + wide, top] : this.pixel(ranges, points[last], points[last + 1]);
    const dx = (right - x) / (columns - 1);
    const dy = (y - upper) / (high - 1);
    Object.assign(context, { globalAlpha: opacity, imageSmoothingEnabled: smooth });
    context.drawImage(grid.canvas, x - dx / 2, upper - dy / 2, right - x + dx, y - upper + dy);
  }

  /**
   * Draw a layer of labels, points or a line. @param {CanvasRenderingContext2D} context @param {Mark} layer
   * @param {Trace} trace its trace in the view's figure @param {Drawn} drawn @param {(x: number) => number}
   * px from a coordinate to pixels @param {(y: number) => number} py
   */
  #drawLayer(context, layer, trace, drawn, px, py) {
    if (!(drawn.opacity > 0) || grounds(layer)) return;
    const { points } = drawn;
    const n = points.length / 2;
    const color = this.#color(layer.role);
    Object.assign(context, {
      globalAlpha: drawn.opacity,
      fillStyle: color,
      strokeStyle: color,
      lineJoin: "round",
    });
    if (layer.draws === "labels") {
      Object.assign(context, {
        font: `${trace.textfont.size}px ${trace.textfont.family}`,
        textAlign: "center",
        textBaseline: "middle",
      });
      for (let i = 0; i < n; i++) context.fillText(trace.text[i], px(points[2 * i]), py(points[2 * i + 1]));
    } else if (layer.draws === "points") {
      drawMarkers(context, layer, trace, drawn, n, px, py, this.#color);
    } else if (layer.draws === "line") {
      context.lineWidth = trace.line.width;
      context.setLineDash(layer.pattern);
      context.stroke(this.#path(layer, points, px, py));
    }
  }

  /** The line of a layer in pixels, interrupted at NaN; cached until its points or the axes move. @param
   * {Mark} layer @param {Float32Array} points @param {(x: number) => number} px @param {(y: number) =>
   * number} py @returns {Path2D} */
  #path(layer, points, px, py) {
    const place = [px, py].map((at) => [at(0), at(1)]).join();
    const known = this.#paths.get(layer);
    if (known?.points === points && known.place === place) return known.path;
    const path = new Path2D();
    for (let i = 0, pen = false; i < points.length / 2; i++) {
      const x = points[2 * i];
      if (x !== x) {
        pen = false;
        continue;
      }
      if (pen) path.lineTo(px(x), py(points[2 * i + 1]));
      else path.moveTo(px(x), py(points[2 * i + 1]));
      pen = true;
    }
    this.#paths.set(layer, { points, place, path });
    return path;
  }
}

/**
 * Draw the points of a layer as circles, rings or squares; all points of one colour at once.
 * @param {CanvasRenderingContext2D} context @param {PointMark} layer @param {Trace} trace @param {Drawn}
 * drawn @param {number} n @param {(x: number) => number} px @param {(y: number) => number} py @param {(name:
 * string) => string} color
 */
function drawMarkers(context, layer, trace, drawn, n, px, py, color) {
  const { points, values } = drawn;
  const radius = layer.size / 2;
  const square = trace.marker.symbol === "square";
  const colors =
    values && palette(resolve(trace.marker.colorscale, color)).map((c) => `rgb(${c.map((v) => v * 255)})`);
  /** @type {Map<number, number[]>} */ const groups = new Map();
  for (let i = 0; i < n; i++) {
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
      if (square) context.rect(x - radius, y - radius, layer.size, layer.size);
      else {
        context.moveTo(x + radius, y);
        context.arc(x, y, radius, 0, 2 * Math.PI);
      }
    }
    if (layer.glyph === "ring") context.stroke();
    else context.fill();
  }
}
