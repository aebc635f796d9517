// @ts-check
/**
 * A panel shows one view of a recipe as a Plotly figure. It draws frames: positions, opacities and colour
 * values of the view's layers. A view in 3D is a `SpacePanel` (plotly/space.mjs), one in 2D a `PlanePanel`
 * (plane.mjs); both extend the class in this module.
 *
 * A panel draws frames in two ways. While marks move, the fast path writes into the vertex buffers that
 * Plotly has built (3D), or draws on a canvas over Plotly's axes (2D); it never touches the camera. The
 * public path calls `Plotly.react`. It is used whenever the fast path fails, and when motion stops (the
 * figure “settles”), so that hover texts and saved images are right. All code that uses private parts of
 * plotly.js is in plotly/.
 *
 * @typedef {{points: Float32Array, opacity: number, values: Float32Array | null, text?: string[]}} Drawn one
 *   layer of a frame: the display coordinates of its points, its opacity, its colour values (null for a
 *   single colour), and its hover texts
 * @typedef {Drawn[] & {zoom: number[]}} Frame all layers of a view, and the zoom of its axes
 *   (perspective.mjs)
 * @typedef {{frame: Frame, at: Float32Array[]}} PixelFrame a frame, and for each of its layers x and y of
 *   the points in pixels
 * @typedef {{eye: number[], center: number[]}} Camera the position of the camera, and the point at which it
 *   looks. The unit is the side of the cube that the axes form, and the origin is the cube's middle
 * @typedef {import("../engine/crowds.mjs").Crowd} Crowd
 * @typedef {import("../engine/recipe.d.ts").Mark} Mark
 * @typedef {import("../globals.mjs").Plotly} Plotly
 * @typedef {import("../engine/engine.mjs").View} View
 * @typedef {{picked: (layer: Mark, index: number) => void, turned: (camera: Camera) => void}} Callbacks for
 *   the reader's clicks and camera turns
 */

import { IDENTITY_ZOOM, widened } from "../engine/perspective.mjs";
import { figure, size } from "./traces.mjs";

const CONFIG = { displayModeBar: false, showSendToCloud: false, scrollZoom: false, doubleClick: false };
const PAGE_FONT_PX = 16; // the font size of the page's root in a presentation that is not enlarged
const FRAME_PARTS = /** @type {const} */ (["points", "opacity", "values"]);

/** A Plotly figure that shows one view of a recipe; `SpacePanel` and `PlanePanel` are its subclasses.
 * @abstract */
export class Panel {
  #themeColor;
  /** @type {Map<string, string>} the colours of roles when the figure settled */ #colors = new Map();
  /** @type {string} crowds, camera, theme and scale when the figure settled, as JSON */ #settledConditions =
    "";
  /** @type {Frame | null} the frame that the public path drew last */ #settled = null;
  /** @type {Frame | null} the frame that `open` or `paint` drew last; null once Plotly redraws */ #painted =
    null;
  #sizes = new ResizeObserver(() => this.#fit());
  /** @type {Frame} the current frame */ frame = Object.assign([], { zoom: IDENTITY_ZOOM });
  scale = 1; // factor on the sizes of texts, points and lines: above 1 in a presentation on a large screen
  /** @type {Crowd[]} the crowds with which the figure settled last */ #crowds = [];
  /** @type {PixelFrame[]} while a film is made, some of its frames, in all of which the names must have
   * room; otherwise empty */ filmFrames = [];
  /** Whether Plotly has built the figure. */ opened = false;
  closed = false;
  life = new AbortController(); // aborts when the panel is closed

  // Called with the mark and the index of the point under the pointer; with null and −1 if there is none.
  /** @type {(layer: Mark | null, index: number) => void} */ onHover = () => {};
  /** @type {() => void} called when axes or camera may have moved */ onPlot = () => {};
  /** @type {() => void} called when a frame has settled */ onRest = () => {};

  /** @param {HTMLElement} element @param {View} view @param {(name: string) => string} color the colour of a
   * role in the present theme @param {Plotly} Plotly @param {Callbacks} callbacks */
  constructor(element, view, color, Plotly, callbacks) {
    /** @type {Plotly} the element, which becomes Plotly's graph div */ this.gd = element;
    this.view = view;
    this.#themeColor = color;
    /** @type {Plotly} */ this.Plotly = Plotly;
    this.callbacks = callbacks;
  }

  /** The colour of a role in the theme. Colours are cached until the figure settles again. So if the theme
   * changes while marks move, the moving marks keep their old colours, like the rest of the figure, until it
   * settles. */
  color = (/** @type {string} */ name) => {
    const known = this.#colors.get(name) ?? this.#themeColor(name);
    this.#colors.set(name, known);
    return known;
  };

  /** Show another view, with the same number of dimensions, from the next frame on. @param {View} view */
  show(view) {
    this.view = view;
    this.#settled = null;
  }

  /** The ranges of the axes in the current frame, after its zoom. */
  get ranges() {
    return widened(this.view.ranges, this.frame.zoom);
  }

  get is3d() {
    return this.view.dims === 3;
  }

  /** Whether the fast path works; if not, `Plotly.react` draws every frame. */
  get fast() {
    return true;
  }

  /** Whether the fast path is drawing the figure; false once the figure has settled. */
  get moving() {
    return this.gd.classList.contains("moving");
  }

  /** Draw the panel for the first time. @param {Frame} frame the frame to draw @param {Camera | null} camera
   * the initial camera; null in 2D, or for the scene's initial camera */
  async open(frame, camera) {
    this.frame = frame;
    this.scale = textScale(this.gd);
    const { data, layout } = figure(this, camera, []);
    await this.build(() => this.Plotly.newPlot(this.gd, data, layout, CONFIG));
    this.opened = true;
    if (this.closed) return this.close();
    this.gd.on("plotly_hover", (/** @type {Plotly} */ event) =>
      this.onHover(this.view.layers[event.points[0].curveNumber], event.points[0].pointNumber),
    );
    this.gd.on("plotly_unhover", () => this.onHover(null, -1));
    this.begin();
    this.gd.on("plotly_afterplot", () => this.onPlot());
    this.#sizes.observe(this.gd);
    this.#painted = this.#settled = frame;
    this.#settledConditions = this.#conditionsWith([]);
    this.onRest();
  }

  /** Draw a frame by the fast path. Does nothing if the figure has not been built, or if `open` or
   * `paint` has drawn this frame and the figure still shows it. @param {Frame} frame */
  paint(frame) {
    if (!this.opened || same(frame, this.#painted)) return;
    this.frame = this.#painted = frame;
    this.gd.classList.add("moving");
    this.draw();
  }

  /** Settle: draw a frame by the public path, without moving the camera. Nothing is drawn if the figure has
   * already settled with this frame, these crowds, and the present camera, theme and `scale`. @param {Frame}
   * frame @param {Crowd[]} [crowds] places where many points coincide, to be labelled with the number of
   * points */
  async settle(frame, crowds = []) {
    if (!this.opened) return;
    const conditions = this.#conditionsWith(crowds);
    if (!this.moving && same(frame, this.#settled, "text") && conditions === this.#settledConditions)
      return this.onRest();
    this.#colors.clear();
    this.frame = this.#settled = frame;
    this.#settledConditions = conditions;
    this.#crowds = crowds;
    const { data, layout } = figure(this, this.camera(), crowds);
    this.forget();
    await this.Plotly.react(this.gd, data, layout, CONFIG);
    if (this.closed) return;
    await this.refresh();
    if (this.closed) return;
    if (this.#painted) {
      // the fast path has drawn a newer frame meanwhile; the figure settles when motion stops
      this.forget();
      return this.paint(this.frame);
    }
    this.gd.classList.remove("moving");
    this.onRest();
  }

  /** The crowds, camera, theme and scale with which the figure would settle now, as JSON.
   * @param {Crowd[]} crowds */
  #conditionsWith(crowds) {
    return JSON.stringify([crowds, this.camera(), this.#themeColor("paper"), this.scale]);
  }

  /** Fit the figure to the size of its element and of the texts around it, without moving the camera. Plotly
   * itself notices only changes of the window's size. */
  async #fit() {
    const { width, height } = size(this.gd);
    const { clientWidth, clientHeight } = this.gd;
    if (this.closed || !clientWidth || !clientHeight) return;
    const scale = textScale(this.gd);
    const rescaled = scale !== this.scale;
    this.scale = scale;
    if (rescaled && !this.moving) return void (await this.settle(this.frame, this.#crowds));
    if (width === clientWidth && height === clientHeight) return;
    const camera = this.camera();
    this.forget();
    await this.Plotly.relayout(this.gd, { width: clientWidth, height: clientHeight });
    if (this.closed) return;
    if (camera) this.setCamera(camera);
    this.onRest();
    if (this.moving) this.paint(this.frame); // Plotly has redrawn the frame that settled last
  }

  /** The current frame in pixels. @returns {PixelFrame} */
  get pixelFrame() {
    return { frame: this.frame, at: this.frame.map(({ points }) => this.pixels(points)) };
  }

  /** The position of one point, as [x, y] in pixels from the figure's top left corner.
   * @param {...number} coordinates the display coordinates of the point */
  pixel(...coordinates) {
    return [...this.pixels(Float32Array.from(coordinates))];
  }

  /** Set the camera on behalf of the reader, and call `callbacks.turned`, as when the reader turns it with
   * the pointer. @param {Camera} camera */
  turn(camera) {
    this.setCamera(camera);
    this.callbacks.turned(camera);
  }

  /** Copy the current frame onto another canvas, with its top left corner at (x, y).
   * @param {CanvasRenderingContext2D} context @param {number} x @param {number} y
   * @param {CanvasImageSource[]} images the awaited result of the method `images`. That method takes time;
   * so callers await it once. Then they can call `copy` in every frame, because `copy` draws without delay */
  copy(context, x, y, images) {
    const { width, height } = size(this.gd);
    for (const image of images) context.drawImage(image, x, y, width, height);
  }

  /** Close the panel: stop its listeners and free Plotly's memory of the figure. */
  close() {
    this.closed = true;
    this.#sizes.disconnect();
    this.life.abort();
    this.Plotly.purge(this.gd);
  }

  /** Note that the figure will no longer show what the fast path has drawn, because Plotly draws it anew. The
   * next `paint` then draws in any case. */
  forget() {
    this.#painted = null;
  }

  // The following methods differ between 2D and 3D panels.

  /** Build the figure. @param {() => Promise<unknown>} newPlot calls `Plotly.newPlot` */
  async build(newPlot) {
    await newPlot();
  }

  /** Complete the figure that Plotly has built, and listen to its events. */
  begin() {}

  /** Draw the field `frame`, the current frame, by the fast path. */
  draw() {}

  /** Correct or complete the figure that `Plotly.react` has just drawn; does nothing unless a subclass needs
   * it. */
  async refresh() {}

  /** Prepare the figure for printing, or undo the preparation afterwards. Does nothing unless a subclass
   * needs it. @type {(on: boolean) => void} on: true before printing, false after it */
  print() {}

  /** The present camera; null in 2D. @returns {Camera | null} */
  camera() {
    return null;
  }

  /** Set the camera at once; does nothing in 2D. @type {(camera: Camera) => void} */
  setCamera() {}

  /** Left, top, width and height of the part of the figure in which marks are drawn, in pixels. @abstract
   * @returns {[number, number, number, number]} */
  get drawingBox() {
    throw new Error("abstract");
  }

  /** Compute the positions of points in pixels from the figure's top left: x and y of each. @abstract @type
   * {(points: Float32Array) => Float32Array} */
  pixels() {
    throw new Error("abstract");
  }

  /** The display coordinates of the point under a pixel, which is counted from the figure's top left. In 3D,
   * the point lies in the plane that passes through `at` and faces the camera. @abstract @type
   * {(left: number, top: number, at?: ArrayLike<number>) => number[]} */
  point() {
    throw new Error("abstract");
  }

  /** The images that `copy` draws over one another to make a picture of the panel, the lowest first.
   * `moving`: whether the images must also show frames that are drawn later. @abstract @type {(moving:
   * boolean) => Promise<CanvasImageSource[]>} */
  images() {
    throw new Error("abstract");
  }
}

/** The factor on the sizes of texts, points and lines in a figure: 1, except in a presentation. There the
 * page enlarges the texts around the figure on a large screen. The factor is a little less than that of the
 * page, which leaves more room for the picture. @param {HTMLElement} gd the element of the figure */
const textScale = (gd) =>
  gd.closest(".presenting")
    ? (parseFloat(getComputedStyle(document.documentElement).fontSize) / PAGE_FONT_PX) ** (2 / 3)
    : 1;

/** Whether two frames would look the same: they have equal zooms, and each layer has the same opacity and the
 * same arrays (points and values) in both. Equal numbers in different arrays do not count. False if `b` is
 * null. @param {Frame} a @param {Frame | null} b @param {(keyof Drawn)[]} more further fields to compare */
const same = (a, b, ...more) =>
  a.zoom.every((x, k) => x === b?.zoom[k]) &&
  a.every((drawn, l) => [...FRAME_PARTS, ...more].every((part) => b?.[l]?.[part] === drawn[part]));
