// @ts-check
/**
 * A panel shows one view of a recipe as a Plotly figure. It draws frames: positions, opacities and colour
 * values of the view's layers. A view in 3D is a `SpacePanel` (plotly/space.mjs), one in 2D a `PlanePanel`
 * (plane.mjs); this module is what both have in common.
 *
 * There are two ways to draw. While things move, the fast path writes into the vertex buffers that Plotly has
 * built (3D), or draws on a canvas over Plotly's axes (2D); it never touches the camera. The public path
 * calls `Plotly.react`. It is used when motion stops (the figure “settles”), so that hover texts and saved
 * images are right, and whenever the fast path fails. Everything private to plotly.js is in plotly/.
 *
 * @typedef {{points: Float32Array, opacity: number, values: Float32Array | null, text?: string[]}} Drawn one
 *   layer of a frame: the display coordinates of its points, its opacity, its colour values, and its hover
 *   texts
 * @typedef {Drawn[] & {zoom: number[]}} Frame all layers of a view, and the zoom of its axes
 * (perspective.mjs)
 * @typedef {{eye: number[], center: number[]}} Camera
 * @typedef {import("../engine/crowds.mjs").Crowd} Crowd
 * @typedef {import("../engine/recipe.d.ts").Mark} Mark
 * @typedef {import("../globals.mjs").Plotly} Plotly
 * @typedef {import("../engine/engine.mjs").View} View
 * @typedef {{picked: (layer: Mark, index: number) => void, turned: (camera: Camera) => void}} Hand callbacks
 *   for the reader's clicks and camera turns
 */

import { IDENTITY_ZOOM, widened } from "../engine/perspective.mjs";
import { figure, size } from "./traces.mjs";

const CONFIG = { displayModeBar: false, showSendToCloud: false, scrollZoom: false, doubleClick: false };
const FRAME_PARTS = /** @type {const} */ (["points", "opacity", "values"]);

/** @abstract */
export class Panel {
  #themeColor;
  /** @type {Map<string, string>} the colours of roles when the figure settled */ #colors = new Map();
  /** @type {string} crowds, camera and theme when the figure settled, as JSON */ #settledWith = "";
  /** @type {Frame | null} the frame that the public path drew last */ #settled = null;
  /** @type {Frame | null} the frame that is drawn, unless Plotly has drawn since then */ #painted = null;
  #sizes = new ResizeObserver(() => this.#fit());
  /** @type {Frame} the current frame */ frame = Object.assign([], { zoom: IDENTITY_ZOOM });
  /** Whether the figure has been built. */ opened = false;
  closed = false;
  life = new AbortController(); // aborts when the panel is closed

  // Called with the mark and the index of the point under the pointer; with null and −1 if there is none.
  /** @type {(layer: Mark | null, index: number) => void} */ hovered = () => {};
  /** @type {() => void} called when the axes or the camera may have moved */ plotted = () => {};
  /** @type {() => void} called when a frame has settled */ rested = () => {};

  /** @param {HTMLElement} element @param {View} view @param {(name: string) => string} color the colour of a
   * role in the present theme @param {Plotly} Plotly @param {Hand} hand */
  constructor(element, view, color, Plotly, hand) {
    /** @type {Plotly} the element, which becomes Plotly's graph div */ this.gd = element;
    this.view = view;
    this.#themeColor = color;
    /** @type {Plotly} */ this.Plotly = Plotly;
    this.hand = hand;
  }

  /** The colour of a role; until the figure settles again, of the theme in which it last settled. */
  color = (/** @type {string} */ name) => {
    const known = this.#colors.get(name) ?? this.#themeColor(name);
    this.#colors.set(name, known);
    return known;
  };

  /** Show another view with as many dimensions, from the next frame on. @param {View} view */
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

  /** Whether moving things are drawn by the fast path. */
  get fast() {
    return true;
  }

  /** Whether the fast path draws; false when the figure has settled. */
  get moving() {
    return this.gd.classList.contains("moving");
  }

  /** Draw the panel for the first time. @param {Frame} frame @param {Camera | null} camera */
  async open(frame, camera) {
    this.frame = frame;
    const { data, layout } = figure(this, camera, []);
    await this.build(() => this.Plotly.newPlot(this.gd, data, layout, CONFIG));
    this.opened = true;
    if (this.closed) return this.close();
    this.gd.on("plotly_hover", (/** @type {Plotly} */ event) =>
      this.hovered(this.view.layers[event.points[0].curveNumber], event.points[0].pointNumber),
    );
    this.gd.on("plotly_unhover", () => this.hovered(null, -1));
    this.begin();
    this.gd.on("plotly_afterplot", () => this.plotted());
    this.#sizes.observe(this.gd);
    this.#painted = this.#settled = frame;
    this.#settledWith = this.#settingWith([]);
    this.rested();
  }

  /** Draw a frame by the fast path; does nothing if the figure shows it already. @param {Frame} frame */
  paint(frame) {
    if (!this.opened || same(frame, this.#painted)) return;
    this.frame = this.#painted = frame;
    this.gd.classList.add("moving");
    this.draw();
  }

  /** Settle: draw a frame by the public path, with the camera as it is. Does nothing if it is drawn already
   * and the theme is the same. @param {Frame} frame @param {Crowd[]} [crowds] places where many points
   * coincide, to be labelled with their number */
  async settle(frame, crowds = []) {
    if (!this.opened) return;
    const settlingWith = this.#settingWith(crowds);
    if (!this.moving && same(frame, this.#settled, "text") && settlingWith === this.#settledWith)
      return this.rested();
    this.#colors.clear();
    this.frame = this.#settled = frame;
    this.#settledWith = settlingWith;
    const { data, layout } = figure(this, this.camera(), crowds);
    this.forget();
    await this.Plotly.react(this.gd, data, layout, CONFIG);
    if (this.closed) return;
    await this.refresh();
    if (this.closed) return;
    if (this.#painted) {
      // things have moved meanwhile; it settles when they rest
      this.forget();
      return this.paint(this.frame);
    }
    this.gd.classList.remove("moving");
    this.rested();
  }

  /** What a settled figure shows besides its frame, as JSON. @param {Crowd[]} crowds */
  #settingWith(crowds) {
    return JSON.stringify([crowds, this.camera(), this.#themeColor("paper")]);
  }

  /** Fit the figure to the size of its element, with the camera as it is. Plotly itself would only follow the
   * size of the window. */
  async #fit() {
    const { width, height } = size(this.gd);
    const { clientWidth, clientHeight } = this.gd;
    if (this.closed || !clientWidth || !clientHeight || (width === clientWidth && height === clientHeight))
      return;
    const camera = this.camera();
    this.forget();
    await this.Plotly.relayout(this.gd, { width: clientWidth, height: clientHeight });
    if (this.closed) return;
    if (camera) this.setCamera(camera);
    this.rested();
    if (this.moving) this.paint(this.frame); // Plotly has drawn the last settled frame
  }

  /** The position of a point in pixels from the figure's top left. @param {...number} coordinates */
  pixel(...coordinates) {
    return [...this.pixels(Float32Array.from(coordinates))];
  }

  /** Turn the camera on behalf of the reader, and report it like a turn with the pointer. @param {Camera}
   * camera */
  turn(camera) {
    this.setCamera(camera);
    this.hand.turned(camera);
  }

  /** Copy the current frame onto another canvas. @param {CanvasRenderingContext2D} context @param {number} x
   * where its top left corner comes to @param {number} y @param {CanvasImageSource[]} images those of
   * `images` */
  copy(context, x, y, images) {
    const { width, height } = size(this.gd);
    for (const image of images) context.drawImage(image, x, y, width, height);
  }

  /** Free the figure. */
  close() {
    this.closed = true;
    this.#sizes.disconnect();
    this.life.abort();
    this.Plotly.purge(this.gd);
  }

  /** Forget what the fast path has drawn, because Plotly draws something else. */
  forget() {
    this.#painted = null;
  }

  // The rest differs between 2D and 3D.

  /** Build the figure. @param {() => Promise<unknown>} newPlot calls `Plotly.newPlot` */
  async build(newPlot) {
    await newPlot();
  }

  /** Complete the figure that Plotly has built, and listen to its events. */
  begin() {}

  /** Draw `frame` by the fast path. */
  draw() {}

  /** Complete what `Plotly.react` has drawn. */
  async refresh() {}

  /** Before printing (on), prepare the figure; afterwards, undo that. @type {(on: boolean) => void} */
  print() {}

  /** The present camera; null in 2D. @returns {Camera | null} */
  camera() {
    return null;
  }

  /** Turn the camera at once. @type {(camera: Camera) => void} */
  setCamera() {}

  /** Left, top, width and height of the part of the figure in which marks are drawn, in pixels. @abstract
   * @returns {[number, number, number, number]} */
  get room() {
    throw new Error("abstract");
  }

  /** The positions of points in pixels from the figure's top left: x and y of each. @abstract @type
   * {(points: Float32Array) => Float32Array} */
  pixels() {
    throw new Error("abstract");
  }

  /** The point at a pixel, counted from the figure's top left; in 3D, the point in the plane through `at`
   * that faces the camera. @abstract @type {(left: number, top: number, at?: ArrayLike<number>) => number[]}
   */
  point() {
    throw new Error("abstract");
  }

  /** The images of which `copy` makes a picture of the panel, from the lowest to the topmost; `moving` if
   * they are to show the following frames, too. @abstract @type {(moving: boolean) =>
   * Promise<CanvasImageSource[]>} */
  images() {
    throw new Error("abstract");
  }
}

/** Whether two frames show the same: they have the same zoom, and their layers the same array objects.
 * @param {Frame} a @param {Frame | null} b @param {(keyof Drawn)[]} more further fields to compare */
const same = (a, b, ...more) =>
  a.zoom.every((x, k) => x === b?.zoom[k]) &&
  a.every((drawn, l) => [...FRAME_PARTS, ...more].every((part) => b?.[l]?.[part] === drawn[part]));
