// @ts-check
/**
 * Panels of 3D views, with everything that uses Plotly's private objects. The fast path draws a frame by
 * writing positions into the buffers that Plotly has built, and never touches the camera. If the fast path
 * fails, the failure is reported, and from then on the panel draws by Plotly's public functions.
 *
 * @typedef {import("../painter.mjs").Camera} Camera
 * @typedef {import("../../engine/recipe.d.ts").Mark} Mark
 * @typedef {import("../../globals.mjs").Plotly} Plotly the library, or one of its private objects, such as a
 *   scene or a buffer
 * @typedef {import("./buffers.mjs").Kept} Kept
 */

import { h, pen } from "../../dom.mjs";
import { onlyOf } from "../../engine/engine.mjs";
import { clickable } from "../../engine/hands.mjs";
import { approached, flat, lifted } from "../../engine/perspective.mjs";
import { palette, resolve, rgb } from "../colors.mjs";
import { Panel } from "../painter.mjs";
import { watchPresses } from "../picking.mjs";
import { watchPinch } from "../pinch.mjs";
import { outside, plotlyCamera, pointScale, size } from "../traces.mjs";
import {
  drawIndexed,
  fadeMesh,
  makeUnindexed,
  shadeMesh,
  shadePoints,
  writeLine,
  writeMesh,
  writePoints,
} from "./buffers.mjs";
import { redraw, within } from "./context.mjs";
import { SHAPES, UNCHANGED, deepen } from "./depth.mjs";
import { guarded, report, wanted } from "./patches.mjs";
import { captureLoop, pulse } from "./pulse.mjs";
import { compileLazily } from "./shaders.mjs";
import { cacheUniforms } from "./uniforms.mjs";

const UP = [0, 0, 1];
const MAX_CLICK_DELAY_MS = 500; // a click that Plotly reports later than this after a tap is ignored
const MIN_PRINT_RATIO = 2; // pixels of a printed picture per CSS pixel, at least

/** The error that is thrown if the browser cannot create a WebGL context. */
export class NoWebGL extends Error {}

/** For each kind of drawing (primitive), the name that Plotly gives the object that draws it.
 * @type {Record<string, string>} */
const OBJECTS = { points: "scatterPlot", line: "linePlot", mesh: "mesh", labels: "textMarkers" };

/** The coordinates of a Plotly vector. @param {Record<"x" | "y" | "z", number>} vector @returns {number[]} */
const xyz = ({ x, y, z }) => [x, y, z];

export class SpacePanel extends Panel {
  #look = { paper: [1, 1, 1], shape: UNCHANGED, still: true, size: 1 }; // of the next object (depth.mjs)
  /** @type {Map<number, Kept>} what is kept of each layer from frame to frame */ #buffers = new Map();
  #turning = 0; // the number of camera changes by `Plotly.relayout` that are not yet finished
  #fast = wanted("buffers");
  /** @type {(shader: Plotly) => void} patches a shader to skip unchanged uniforms */ #mend = () => {};

  /** @override */
  get fast() {
    return this.#fast;
  }

  /** Plotly's private scene object; undefined before the figure is built. @returns {Plotly} */
  get scene() {
    return this.gd._fullLayout?.scene?._scene;
  }

  /** Whether the figure has a WebGL context. */
  get #living() {
    return Boolean(this.scene?.glplot);
  }

  /** Build the figure with all patches to its WebGL context and its render loop. On the fast path nothing is
   * drawn before `begin`. Throws NoWebGL if there is no WebGL context. @override @param {() =>
   * Promise<unknown>} newPlot calls `Plotly.newPlot` */
  async build(newPlot) {
    const { depth } = /** @type {Plotly} */ (this.view.figure.layout).meta;
    let deepened = () => !wanted("depth");
    /** @type {Plotly} */ let unseen = null;
    this.#look.paper = rgb(this.color("paper"));
    const build = () =>
      within(newPlot, (gl) => {
        if (this.fast && wanted("shaders")) compileLazily(gl);
        if (this.fast && wanted("uniforms")) this.#mend = cacheUniforms(gl);
        if (wanted("depth")) deepened = deepen(gl, depth, this.#look);
        if (!this.fast) return;
        unseen = gl;
        gl.drawArrays = gl.drawElements = () => {};
      });
    const { built, loop } = wanted("pulse") ? captureLoop(build) : { built: build(), loop: null };
    await built.catch((error) => {
      throw this.#living ? error : new NoWebGL();
    });
    if (this.closed) return;
    if (!this.#living) throw new NoWebGL();
    delete unseen?.drawArrays;
    delete unseen?.drawElements;
    if (loop) pulse(this.gd, loop, this.life.signal);
    else if (wanted("pulse")) report("pulse", "the loop of frames was not found");
    if (this.view.layers.some(({ draws }) => draws === "points") && !deepened())
      report("depth", "the shaders of markers have other texts");
  }

  /** Draw the figure for the first time, and listen to its events. @override */
  begin() {
    this.#watchClicks();
    this.#watchCamera();
    this.gd.addEventListener("wheel", this.#zoom, { passive: false, capture: true });
    watchPinch(this.gd, this.life.signal, (apart) => this.turn(approached(this.camera(), 1 / apart)));
    if (wanted("camera")) guarded("camera", () => this.#keepListening());
    // Plotly's pick buffer has not been drawn yet either
    this.#attempt(() => this.scene.glplot.update({}));
    this.refresh();
  }

  /** Call `callbacks.picked` when a point is clicked: the pointer is pressed and released, and hardly moves
   * in between. Plotly's own click event alone does not tell this. It comes as soon as a mouse button is
   * pressed, although the mouse may then move and turn the figure; for a tap, it comes only after the finger
   * is up. */
  #watchClicks() {
    /** @type {[Mark, number] | null} the point that Plotly has reported since the last press */ let hit =
      null;
    let until = 0; // until when the last click can pick this point
    const pick = () => {
      if (!hit || performance.now() > until) return;
      until = 0;
      this.callbacks.picked(...hit);
    };
    this.gd.on("plotly_click", (/** @type {Plotly} */ { points: [{ curveNumber, pointNumber }] }) => {
      const layer = this.view.layers[curveNumber];
      if (clickable(layer)) hit ??= [layer, pointNumber];
      pick();
    });
    const { signal } = this.life;
    const pressed = () => {
      hit = null;
      until = 0;
    };
    this.gd.addEventListener("pointerdown", pressed, { signal, capture: true });
    watchPresses(this.gd, signal, () => {
      until = performance.now() + MAX_CLICK_DELAY_MS;
      pick();
    });
  }

  /** Call `callbacks.turned` while the reader turns the figure. Plotly reports only turns with a mouse, so
   * the events of fingers are watched here, too. */
  #watchCamera() {
    const moved = () => {
      this.gd.classList.add("turning");
      this.callbacks.turned(this.camera());
      requestAnimationFrame(() => this.closed || this.onPlot()); // Plotly moves its camera in its next frame
    };
    const turned = (/** @type {Plotly} */ event) => {
      if ("scene.camera" in event && !this.#turning) moved();
    };
    this.gd.on("plotly_relayouting", turned);
    this.gd.on("plotly_relayout", turned);
    let eye = "";
    const touched = () => {
      if (this.closed) return;
      const now = String(this.camera().eye);
      if (eye !== (eye = now)) moved();
    };
    const options = { signal: this.life.signal, passive: true };
    this.gd.addEventListener("touchstart", () => (eye = String(this.camera().eye)), options);
    for (const touch of ["touchmove", "touchend"])
      this.gd.addEventListener(touch, () => requestAnimationFrame(touched), options);
  }

  /** Handle a turn of the wheel. It scrolls the page; with Ctrl, or for a pinch on a touchpad, it moves the
   * camera closer or farther away. */
  #zoom = (/** @type {WheelEvent} */ event) => {
    event.stopPropagation(); // or Plotly would keep the page from scrolling
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.turn(approached(this.camera(), Math.exp(event.deltaY / 300)));
  };

  /** @override */
  forget() {
    super.forget();
    this.#buffers.clear();
  }

  /** Draw the current frame again after Plotly has drawn it: with depth effects (`#changeObjects`), and with
   * dashes where the fast path writes them. Plotly puts the dashes in other places, so they would otherwise
   * jump when the figure settles. @override */
  async refresh() {
    this.#look.paper = rgb(this.color("paper"));
    guarded("layers", () => this.#changeObjects());
    const dashed = this.view.layers.flatMap((layer, l) =>
      "pattern" in layer && layer.pattern.length ? [l] : [],
    );
    this.#attempt(() => this.#write(dashed));
    redraw(this.scene.glplot);
  }

  /** Change how Plotly's objects draw, after Plotly has built or updated them. Objects with opacity 0 are not
   * drawn. Only clickable layers are drawn into the pick buffer, so that a sphere never hides the points
   * behind it from the pointer. Each object gets its depth effects. Throws if one of Plotly's objects has no
   * `draw`. */
  #changeObjects() {
    const traces = this.scene?.traces ?? {};
    const layers = this.view.layers.map((layer, l) => ({
      trace: traces[`layer-${l}`],
      look: lookOf(layer),
      picks: clickable(layer),
    }));
    // the labels that count points never fade: they must be legible at any distance
    const counts = { trace: traces.crowds, look: { shape: SHAPES.count, still: true }, picks: false };
    for (const { trace, look, picks } of [...layers, counts]) {
      for (const object of Object.values(OBJECTS).map((name) => trace?.[name])) {
        if (!object) continue;
        // no projections onto the walls: null equals neither true nor false, so Plotly skips drawing them
        if (!object.axesProject?.some(Boolean)) object.projectHasAlpha = null;
        if (wanted("layers")) {
          object.isOpaque = () => object.opacity >= 1;
          object.isTransparent = () => object.opacity > 0 && object.opacity < 1;
        }
        const { draw, drawTransparent, drawPick, update } = Object.getPrototypeOf(object);
        if (!draw) throw new Error("an object that draws otherwise");
        const drawn =
          (/** @type {(camera: Plotly) => void} */ plotlyDraw) => (/** @type {Plotly} */ camera) => {
            Object.assign(this.#look, look);
            this.#look.size = trace === traces.crowds ? 1 : pointScale(this);
            // an object may have no program before it is first drawn
            this.#mend(object.useOrtho ? object.orthoShader : (object.shader ?? object.triShader));
            drawIndexed(object, () => plotlyDraw.call(object, camera));
          };
        object.update = (/** @type {Plotly} */ given) => {
          if (object === trace.mesh) makeUnindexed(object);
          // Plotly builds letters and symbols that are new to the page at 1/pixelRatio of their size; drawing
          // sets the ratio again
          else if (wanted("glyphs")) object.pixelRatio = 1;
          update.call(object, given);
        };
        object.draw = drawn(draw);
        object.drawTransparent = drawn(drawTransparent);
        object.drawPick = picks || !wanted("layers") ? drawn(drawPick) : () => {};
      }
    }
  }

  /** Keep the camera responsive. Whenever the camera's mode is set, the camera ignores input and drifts for
   * half a second, and Plotly sets the mode on every update. From now on, the mode is set only when it
   * changes. Plotly has just set it for the first time; this first half second is ended at once, by
   * zeroing the times that the camera has stored. Throws if Plotly has no camera as expected. */
  #keepListening() {
    const scene = this.scene;
    const set = scene?.updateFx;
    if (!set || !scene.camera) throw new Error("no camera whose mode is set");
    const { eye, center } = this.gd.layout.scene.camera;
    scene.camera.lookAt(xyz(eye), xyz(center), UP);
    scene.camera.view.flush(Infinity);
    for (const part of Object.values(scene.camera.view._active)) part?._time?.fill(0);
    scene.updateFx = (/** @type {string} */ dragmode, /** @type {string} */ hovermode) => {
      if (scene.camera.mode === dragmode) scene.fullSceneLayout.hovermode = hovermode;
      else set.call(scene, dragmode, hovermode);
    };
  }

  /** @override */
  draw() {
    const succeeded = this.#attempt(() => {
      const { glplot, traces, dataScale } = this.scene;
      this.#write(this.frame.keys());
      this.ranges.forEach(([low, high], r) =>
        glplot.setBounds(r, { min: low * dataScale[r], max: high * dataScale[r] }),
      );
      // while points move, the counts of coinciding points are wrong: hide them
      if (traces.crowds?.textMarkers) traces.crowds.textMarkers.opacity = 0;
      redraw(glplot, true);
    });
    if (!succeeded) this.settle(this.frame);
  }

  /** Run the function `act`, a part of the fast path. If `act` throws, report the error, and never use the
   * fast path again. @param {() => void} act @returns {boolean} whether `act` succeeded; false also if it did
   * not run because the fast path is off */
  #attempt(act) {
    if (!this.fast || !this.#living) return false;
    this.#fast = guarded("buffers", act);
    return this.fast;
  }

  /** Write the changes of some layers of the current frame into Plotly's buffers, without drawing the frame.
   * @param {Iterable<number>} layers the indices of the layers */
  #write(layers) {
    const { traces, dataScale } = this.scene;
    for (const l of layers) {
      const layer = this.view.layers[l];
      const { color } = layer;
      const object = traces[`layer-${l}`][OBJECTS[layer.draws]];
      const { points, opacity, values } = this.frame[l];
      const kept = this.#buffers.get(l) ?? {};
      this.#buffers.set(l, kept);
      const moved = kept.points !== points;
      const faded = kept.opacity !== opacity;
      const shaded = color && values && kept.values !== values;
      if (faded) Object.assign(object, { opacity, hasAlpha: opacity < 1 });
      if (layer.draws === "points") {
        kept.away ??= outside(this.view);
        if (moved) writePoints(object, points, dataScale, kept);
        kept.palette ??= color && palette(resolve(this.view.figure.data[l].marker.colorscale, this.color));
        if (shaded) shadePoints(object, values, kept, color);
      } else if (layer.draws === "line") {
        kept.rgb ??= rgb(this.color(layer.role));
        if (moved) writeLine(object, points, dataScale, kept, layer.size * this.scale, this.view);
      } else if (layer.draws === "mesh") {
        kept.rgb ??= color ? [1, 1, 1] : rgb(this.color(layer.role));
        if (moved) writeMesh(object, points, dataScale, kept);
        if (faded) fadeMesh(object, opacity, kept);
        if (shaded) shadeMesh(object, values, kept, color);
      }
      Object.assign(kept, { points, opacity, values });
    }
  }

  /** The current camera, as Plotly reports it. @override @returns {Camera} */
  camera() {
    const { eye, center } = this.scene?.getCamera?.() ?? this.gd.layout.scene.camera;
    return { eye: xyz(eye), center: xyz(center) };
  }

  /** Turn the camera and draw at once; if the fast path fails, let `Plotly.relayout` do it later. @override
   * @param {Camera} camera */
  setCamera(camera) {
    if (!this.opened) return;
    this.gd.classList.add("turning");
    const turned = this.#attempt(() => {
      this.scene.camera.lookAt(camera.eye, camera.center, UP);
      redraw(this.scene.glplot);
    });
    if (turned) return this.onPlot();
    this.#turning++;
    this.Plotly.relayout(this.gd, { "scene.camera": plotlyCamera(camera) }).finally(() => this.#turning--);
  }

  /** Left, top, width and height of the figure without a margin of two pixels. @override
   * @returns {[number, number, number, number]} */
  get drawingBox() {
    return [2, 2, this.gd.clientWidth - 4, this.gd.clientHeight - 4];
  }

  /** @override @param {Float32Array} points */
  pixels(points) {
    return flat(points, this.ranges, this.camera(), this.gd.clientWidth, this.gd.clientHeight);
  }

  /** @override @param {number} left @param {number} top @param {ArrayLike<number>} [at] */
  point(left, top, at = [0, 0, 0]) {
    const { clientWidth, clientHeight } = this.gd;
    return lifted([left, top], at, this.ranges, this.camera(), clientWidth, clientHeight);
  }

  /** The images of which a picture of the panel is made: the WebGL canvas alone. (An image that Plotly makes
   * would have no depth effects.) @override */
  async images() {
    return [this.scene.glplot.canvas];
  }

  /** @override @type {Panel["copy"]} */
  copy(...given) {
    redraw(this.scene.glplot); // WebGL keeps its picture only until the end of the current frame
    super.copy(...given);
  }

  /** Before printing (`on`), cover the WebGL canvas with a copy, because a WebGL canvas is empty when it is
   * printed; afterwards, remove the copy. @override @param {boolean} on */
  print(on) {
    this.gd.querySelector(".printed")?.remove();
    if (!on) return;
    const { width, height } = size(this.gd);
    const ratio = Math.max(MIN_PRINT_RATIO, devicePixelRatio);
    const copy = h("canvas", { className: "motion printed", width: width * ratio, height: height * ratio });
    const context = pen(copy);
    context.scale(ratio, ratio);
    this.copy(context, 0, 0, [this.scene.glplot.canvas]);
    // not the figure's size: on paper it may be a little narrower
    Object.assign(copy.style, { width: `${width}px`, height: `${height}px` });
    this.gd.append(copy);
  }

  /** Close the panel, and free its WebGL context at once, because browsers allow only a few contexts.
   * @override */
  close() {
    const gl = this.scene?.glplot?.gl;
    super.close();
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

/** The depth effects of a layer: `shape` and `still` of a `Look` (depth.mjs). A mark that shows only
 * the followed (selected) point never fades. @param {Mark} layer */
const lookOf = (layer) => ({
  shape: layer.draws === "points" ? SHAPES[/** @type {keyof typeof SHAPES} */ (layer.glyph)] : SHAPES.label,
  still: onlyOf(layer) === "followed",
});
