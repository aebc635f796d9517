// @ts-check
/**
 * The painter draws a frame of a view (positions, opacities and colour values of its layers) as a Plotly
 * figure.
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
 * @typedef {import("../engine/recipe.d.ts").Mark} Mark
 * @typedef {import("../globals.mjs").Plotly} Plotly
 * @typedef {import("../engine/engine.mjs").View} View
 */

import { pen } from "../dom.mjs";
import { clickable } from "../engine/hands.mjs";
import { IDENTITY_ZOOM, flat, lifted, widened } from "../engine/perspective.mjs";
import { Canvas } from "./canvas.mjs";
import { watchClicks } from "./picking.mjs";
import { NoWebGL, Space } from "./plotly/space.mjs";
import { axesBox, figure, plotlyCamera, size } from "./traces.mjs";

export { NoWebGL };

const CONFIG = { displayModeBar: false, showSendToCloud: false, scrollZoom: false, doubleClick: false };
const FRAME_PARTS = /** @type {const} */ (["points", "opacity", "values"]);

/** A panel: one view of a recipe in one element. */
export class Panel {
  /** @param {HTMLElement} element @param {View} view @param {(name: string) => string} color
   * @param {Plotly} Plotly
   * @param {{picked: (layer: Mark, index: number) => void, turned: (camera: Camera) => void}} hand callbacks
   * for the reader's clicks and camera turns */
  constructor(element, view, color, Plotly, hand) {
    /** @type {Plotly} the element, which becomes Plotly's graph div */ this.gd = element;
    this.view = view;
    /** @type {Plotly} */ this.Plotly = Plotly;
    /** @type {Map<string, string>} */ this.colors = new Map();
    this.color = (/** @type {string} */ name) => {
      const known = this.colors.get(name) ?? color(name);
      this.colors.set(name, known);
      return known;
    };
    this.hand = hand;
    // called with the mark and the index of the point under the pointer; with null and −1 if there is none
    /** @type {(layer: Mark | null, index: number) => void} */ this.hovered = () => {};
    /** @type {() => void} called when the axes or the camera may have moved */ this.plotted = () => {};
    /** @type {() => void} called when a frame has settled */ this.rested = () => {};
    /** @type {Frame} the last frame */ this.frame = Object.assign([], { zoom: IDENTITY_ZOOM });
    /** @type {Frame | null} the frame that the fast path drew last, if nothing else has drawn since
     */ this.painted = null;
    /** @type {Space | null} */ this.space = view.dims === 3 ? new Space(element, view, this.color) : null;
    /** @type {Canvas | null} */ this.flat = null;
    this.sizes = new ResizeObserver(() => this.#fit());
    this.watching = new AbortController(); // aborts watchers of the screen and of a 3D figure's events
    this.turning = 0; // cameras that we have set by the public path and Plotly has not yet confirmed
    /** @type {import("../engine/crowds.mjs").Crowd[]} last drawn by the public path */ this.crowds = [];
    /** @type {{frame: Frame, camera: Camera | null} | null} last drawn by the public path */ this.settled =
      null;
    this.opened = false;
    this.closed = false;
  }

  /** Show another view with as many dimensions, from the next frame on. @param {View} view */
  show(view) {
    this.view = view;
    this.space?.show(view);
    if (this.flat) this.flat.view = view;
    this.settled = null;
  }

  /** Turn the camera on behalf of the reader, and report it like a turn with the pointer. @param {Camera}
   * camera */
  turn(camera) {
    this.setCamera(camera);
    this.hand.turned(camera);
  }

  /** The ranges of the axes in the last frame, after its zoom. */
  get ranges() {
    return widened(this.view.ranges, this.frame.zoom);
  }

  /** Whether the axes move with parameters or stages. */
  get axesMove() {
    return this.view.wider.length + this.view.zooms.length > 0;
  }

  get is3d() {
    return this.space !== null;
  }

  /** Whether moving things are drawn by the fast path. */
  get fast() {
    return this.space?.fast ?? true;
  }

  /** @returns {Plotly} Plotly's scene, for tests */
  get scene() {
    return this.space?.scene;
  }

  /** The canvas under the axes, for fields and cells. */
  get ground() {
    return this.flat?.ground ?? null;
  }

  /** Draw the panel for the first time. @param {Frame} frame @param {Camera | null} camera */
  async open(frame, camera) {
    this.frame = frame;
    const { space } = this;
    const { data, layout } = this.#figure(frame, camera);
    const draw = () => this.Plotly.newPlot(this.gd, data, layout, CONFIG);
    await (space ? space.build(draw) : draw());
    this.opened = true;
    if (this.closed) return this.close();
    if (space && !space.living) throw new NoWebGL();
    this.gd.on("plotly_hover", (/** @type {Plotly} */ event) =>
      this.hovered(this.view.layers[event.points[0].curveNumber], event.points[0].pointNumber),
    );
    this.gd.on("plotly_unhover", () => this.hovered(null, -1));
    if (space) {
      this.gd.on("plotly_click", (/** @type {Plotly} */ event) => {
        const { curveNumber, pointNumber } = event.points[0];
        const layer = this.view.layers[curveNumber];
        if (clickable(layer)) this.hand.picked(layer, pointNumber);
      });
      const moved = (/** @type {Plotly} */ event) => {
        if (!("scene.camera" in event) || this.turning) return;
        this.gd.classList.add("turning");
        this.hand.turned(this.camera());
        requestAnimationFrame(() => this.plotted()); // Plotly moves its camera in its next frame
      };
      this.gd.on("plotly_relayouting", moved);
      this.gd.on("plotly_relayout", moved);
      this.gd.addEventListener("wheel", this.#zoom, { passive: false, capture: true });
      space.open(frame, this.watching.signal);
    } else {
      this.flat = new Canvas(this.gd, this.view, this.color);
      this.#follow();
      this.#watchResolution();
      watchClicks(this, this.watching.signal);
    }
    this.gd.on("plotly_afterplot", () => {
      this.#follow();
      this.plotted();
    });
    this.sizes.observe(this.gd);
    this.painted = frame;
    this.settled = { frame, camera: this.is3d ? this.camera() : null };
    this.rested();
  }

  /** 2D: left, top, width and height of the axes in pixels of the element. */
  get axesBox() {
    return axesBox(this.gd);
  }

  /** The position of a point in pixels from the figure's top left. @param {number} x @param {number} y
   * @param {number} [z] in 3D */
  pixel(x, y, z = 0) {
    if (this.flat) return this.flat.pixel(this.ranges, x, y);
    const { clientWidth, clientHeight } = this.gd;
    return [...flat(Float32Array.of(x, y, z), this.ranges, this.camera(), clientWidth, clientHeight)];
  }

  /** The point at a pixel, counted from the figure's top left; in 3D, the point in the plane through `at`
   * that faces the camera. @param {number} left @param {number} top @param {ArrayLike<number>} [at] @returns
   * {number[]} */
  point(left, top, at = [0, 0, 0]) {
    if (this.flat) return this.flat.point(this.ranges, left, top);
    const { clientWidth, clientHeight } = this.gd;
    return lifted([left, top], at, this.ranges, this.camera(), clientWidth, clientHeight);
  }

  /** Fit the figure to the size of its element, with the camera as it is. Plotly itself would only follow the
   * size of the window. */
  async #fit() {
    const { width, height } = size(this.gd);
    const { clientWidth, clientHeight } = this.gd;
    if (this.closed || !clientWidth || !clientHeight || (width === clientWidth && height === clientHeight))
      return;
    const camera = this.is3d ? this.camera() : null;
    this.#forget();
    await this.Plotly.relayout(this.gd, { width: clientWidth, height: clientHeight });
    if (this.closed) return;
    if (camera) this.setCamera(camera);
    this.rested();
    if (camera && this.moving) this.paint(this.frame); // Plotly has drawn the last settled frame
  }

  /** Whether the fast path draws; false when the figure has settled. */
  get moving() {
    return this.gd.classList.contains("moving");
  }

  /** 2D: adjust the canvases to the axes that Plotly has just drawn. */
  #follow() {
    if (!this.flat || this.closed) return;
    if (this.moving) this.#paintCanvas(this.frame);
    else this.flat.paintGround(this.frame);
  }

  /** Redraw when the pixel ratio changes, by zooming the page or on another screen. */
  #watchResolution() {
    const { signal } = this.watching;
    const same = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    same.addEventListener(
      "change",
      () => {
        this.#follow();
        this.#watchResolution();
      },
      { once: true, signal },
    );
  }

  /** Forget what the fast path has drawn, because Plotly has drawn something else. */
  #forget() {
    this.painted = null;
    this.space?.forget();
  }

  /** 2D: draw a frame on the canvases, and hide what Plotly has drawn. @param {Frame} frame */
  #paintCanvas(frame) {
    this.flat?.paint(frame, this.axesMove);
    this.gd.classList.add("moving");
    this.gd.classList.toggle("reaching", this.axesMove);
  }

  /** Plotly's traces and layout for a frame. @param {Frame} frame @param {Camera | null} camera */
  #figure(frame, camera) {
    this.space?.paper(this.color("paper"));
    const { clientWidth, clientHeight } = this.gd;
    const before = size(this.gd); // a hidden figure keeps its size
    return figure(this.view, frame, camera, this.crowds, this.color, {
      width: clientWidth || before.width,
      height: clientHeight || before.height,
    });
  }

  /** Draw a frame by the fast path; does nothing if the figure shows it already. @param {Frame} frame */
  paint(frame) {
    if (!this.opened || same(frame, this.painted)) return;
    this.frame = this.painted = frame;
    if (!this.space) return this.#paintCanvas(frame);
    this.gd.classList.add("moving");
    if (!this.space.paint(frame, this.ranges)) this.settle(frame);
  }

  /** Settle: draw a frame by the public path, with the camera as it is. Does nothing if it is drawn already
   * and the theme's colours are the same. @param {Frame} frame @param
   * {import("../engine/crowds.mjs").Crowd[]} [crowds] places where many points coincide, to be labelled with
   * their number */
  async settle(frame, crowds = []) {
    if (!this.opened) return;
    const camera = this.is3d ? this.camera() : null;
    const before = this.settled;
    const stands =
      !this.moving &&
      same(frame, before?.frame, "text") &&
      JSON.stringify([crowds, camera]) === JSON.stringify([this.crowds, before?.camera]);
    if (stands && this.#keepsColors()) return this.rested();
    this.colors.clear();
    this.frame = frame;
    this.crowds = crowds;
    const { data, layout } = this.#figure(frame, camera);
    this.#forget();
    this.settled = { frame, camera };
    await this.Plotly.react(this.gd, data, layout, CONFIG);
    if (this.closed) return;
    if (this.flat) await this.#keepRanges();
    if (this.closed) return;
    this.space?.refresh(frame);
    if (this.painted) {
      // things have moved meanwhile; it settles when they rest
      this.#forget();
      return this.paint(this.frame);
    }
    if (this.flat) this.flat.over.hidden = true;
    this.gd.classList.remove("moving");
    this.#follow();
    this.rested();
  }

  /** 2D: set the ranges of the axes again if `Plotly.react` has not adopted them: for axes with equal scales
   * it ignores a range that is narrower than the first one; `relayout` does not. */
  async #keepRanges() {
    const [x, y] = this.ranges;
    const { xaxis, yaxis } = this.gd.layout;
    if (JSON.stringify([xaxis.range, yaxis.range]) === JSON.stringify([x, y])) return;
    await this.Plotly.relayout(this.gd, { "xaxis.range": x, "yaxis.range": y });
  }

  /** Whether all colours that the last drawing used are the same now; not after the theme has changed. */
  #keepsColors() {
    const known = new Map(this.colors);
    this.colors.clear();
    return [...known].every(([name, color]) => this.color(name) === color);
  }

  /** 3D: the present camera. @returns {Camera} */
  camera() {
    return /** @type {Space} */ (this.space).camera();
  }

  /** 3D: turn the camera at once; by the public path if the fast path fails. @param {Camera} camera */
  setCamera(camera) {
    if (!this.space || !this.opened) return;
    this.gd.classList.add("turning");
    if (this.space.turn(camera)) return this.plotted();
    this.turning++;
    this.Plotly.relayout(this.gd, { "scene.camera": plotlyCamera(camera) }).finally(() => this.turning--);
  }

  /** The wheel scrolls the page; with Ctrl, or by pinching, it moves the camera closer. */
  #zoom = (/** @type {WheelEvent} */ event) => {
    event.stopPropagation(); // or Plotly would keep the page from scrolling
    if (!event.ctrlKey) return;
    event.preventDefault();
    const { eye, center } = this.camera();
    const f = Math.exp(event.deltaY / 300);
    this.setCamera({ eye: eye.map((e, i) => center[i] + f * (e - center[i])), center });
    this.hand.turned(this.camera());
  };

  /** 2D: an image of the axes alone, for `copy`; without the lines through 0 if the axes move, because `copy`
   * then gets these from the canvas. Null in 3D. @returns {Promise<HTMLImageElement | null>} */
  async axes() {
    if (this.is3d) return null;
    const { width, height } = size(this.gd);
    const { layout } = this.gd;
    const [xaxis, yaxis] = [layout.xaxis, layout.yaxis].map((axis) => ({
      ...axis,
      zeroline: axis.zeroline && !this.axesMove,
    }));
    return loaded(
      this.Plotly.toImage(
        { data: [], layout: { ...layout, xaxis, yaxis } },
        { format: "svg", width, height },
      ),
    );
  }

  /** Copy the current frame onto another canvas. @param {CanvasRenderingContext2D} context @param {number} x
   * where its top left corner comes to @param {number} y @param {HTMLImageElement | null} axes in 2D, the
   * image of `axes` */
  copy(context, x, y, axes) {
    const { width = 0, height = 0 } = size(this.gd);
    this.space?.redraw(); // a drawing buffer is valid only during its frame
    for (const shown of this.space ? [this.space.canvas] : [this.ground, axes, this.flat?.over])
      if (shown) context.drawImage(shown, x, y, width, height);
  }

  /** 3D: before printing (on), cover the WebGL canvas with a copy, because printers find it empty;
   * afterwards, remove the copy. @param {boolean} on */
  print(on) {
    this.gd.querySelector(".printed")?.remove();
    if (!on || !this.is3d) return;
    const { width, height } = size(this.gd);
    const copy = Object.assign(this.#copied(Math.max(2, devicePixelRatio)), { className: "motion printed" });
    // not the figure's size: on paper it may be a little narrower
    Object.assign(copy.style, { width: `${width}px`, height: `${height}px` });
    this.gd.append(copy);
  }

  /** A picture of the panel with `ratio` times as many pixels along each side as on the page. In 3D it is
   * copied from the canvas, because the image that Plotly makes has no depth effects. @param {number} ratio
   * @returns {Promise<HTMLCanvasElement | HTMLImageElement>} */
  async picture(ratio) {
    if (this.is3d) return this.#copied(ratio);
    const { clientWidth: width, clientHeight: height } = this.gd;
    return loaded(this.Plotly.toImage(this.gd, { format: "png", scale: ratio, width, height }));
  }

  /** 3D: a copy of the WebGL canvas, as `picture` returns it. @param {number} ratio */
  #copied(ratio) {
    const { width = 0, height = 0 } = size(this.gd);
    const canvas = document.createElement("canvas");
    const context = pen(canvas);
    Object.assign(canvas, { width: width * ratio, height: height * ratio });
    context.scale(ratio, ratio);
    this.copy(context, 0, 0, null);
    return canvas;
  }

  /** Free the figure and its WebGL context. */
  close() {
    this.closed = true;
    this.sizes.disconnect();
    this.watching.abort();
    const purge = () => this.Plotly.purge(this.gd);
    if (this.space) this.space.close(purge);
    else purge();
  }
}

/** Load the image at an address. @param {Promise<string>} address */
async function loaded(address) {
  const image = new Image();
  image.src = await address;
  await image.decode();
  return image;
}

/** Whether two frames show the same: they have the same zoom, and their layers the same array objects.
 * @param {Frame} a @param {Frame | null | undefined} b
 * @param {(keyof Drawn)[]} more further fields to compare */
const same = (a, b, ...more) =>
  a.zoom.every((x, k) => x === b?.zoom[k]) &&
  a.every((drawn, l) => [...FRAME_PARTS, ...more].every((part) => b?.[l]?.[part] === drawn[part]));
