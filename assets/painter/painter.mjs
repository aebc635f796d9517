// @ts-check
/**
 * The painter: a view's frame (positions, opacities, colour values) onto a Plotly figure.
 *
 * While things move, the fast way writes the vertex buffers that Plotly has built (3D) or a canvas over its axes (2D);
 * it never touches the camera. The public way, `Plotly.react`, is the fallback, and settles the figure when motion
 * stops, so that hover and saved images tell the truth. All that is private to plotly.js 4.1 is in this file.
 *
 * @typedef {{points: Float32Array, opacity: number, values: Float32Array | null, text?: string[]}} Drawn one layer of a frame
 * @typedef {Drawn[] & {room: number[]}} Frame all layers of a view, and where its axes end (`roomOf`)
 * @typedef {{eye: number[], center: number[]}} Camera
 * @typedef {import("../engine/marks.mjs").Mark} Mark
 * @typedef {import("../engine/marks.mjs").Color} Color
 * @typedef {import("../engine/engine.mjs").Trace} Trace
 * @typedef {import("../globals.mjs").Plotly} Plotly or what is private to it, such as its scene or a buffer
 * @typedef {Record<string, any>} Kept buffers of a layer from frame to frame: which, its writer knows
 * @typedef {import("../engine/engine.mjs").View} View
 */

import { follows } from "../engine/marks.mjs";
import { legible } from "../engine/crowds.mjs";
import { SAME as AS_WIDE, flat, widened } from "../engine/perspective.mjs";
import { SHAPES, deepen } from "./depth.mjs";
import { picking } from "./picking.mjs";
import { caught, pulse } from "./pulse.mjs";
import { lazily } from "./shaders.mjs";

const CONFIG = { displayModeBar: false, showSendToCloud: false, scrollZoom: false, doubleClick: false };
const SAME = 4; // pixels from one point to another in the same place
const CROWDED = 13; // pixels, the height of letters that say how many points share a place
const UP = { x: 0, y: 0, z: 1 }, PARTS = /** @type {const} */ (["points", "opacity", "values"]);

/** Every `var(--role)` as a colour. @template T @param {T} data @param {(name: string) => string} color @returns {T} */
function resolve(data, color) {
  const found = /** @param {unknown} part @returns {unknown} */ (part) => {
    if (typeof part === "string") return part.startsWith("var(--") ? color(part.slice(6, -1)) : part;
    if (Array.isArray(part)) return typeof part.at(-1) === "number" ? part : part.map(found);
    if (part && typeof part === "object") return Object.fromEntries(Object.entries(part).map(([key, v]) => [key, found(v)]));
    return part;
  };
  return /** @type {T} */ (found(data));
}

/** @param {string} hex @returns {number[]} red, green, blue from 0 to 1 */
export const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);

/** @param {Record<"x" | "y" | "z", number>} vector @returns {number[]} */
const xyz = (vector) => [vector.x, vector.y, vector.z];

/** @type {WeakMap<View, number[]>} where a view is left, however wide it is */
const exits = new WeakMap();

/** Just outside a picture, however wide: WebGL wants a place for each marker, draws none there, and scales all to what is farthest away.
 * @param {View} view */
function outside(view) {
  const known = exits.get(view) ?? exit(view);
  exits.set(view, known);
  return known;
}

/** @param {View} view */
function exit({ ranges, room, wider }) {
  const most = (/** @type {number[][]} */ rows) => rows.reduce((a, b) => a.map((x, r) => Math.max(x, b[r])));
  const usual = most([...room, AS_WIDE].map((row) => [row[0], ...ranges.map((_, r) => row[r + 1] ?? 0)]));
  const more = wider.map((each) => most(each.room.flat())), all = [usual[0] * Math.max(1, ...more.map(([times]) => times))];
  ranges.forEach((_, r) => all.push(more.reduce((sum, row) => sum + row[r + 1], usual[r + 1])));
  return widened(ranges, all).map(([low, high]) => 2 * high - low);
}

/** One coordinate of interleaved points. @param {Float32Array} points @param {number} k @param {number} r @param {number} [gap] in
 * place of a gap */
function column(points, k, r, gap = NaN) {
  const out = new Array(points.length / k);
  for (let i = 0; i < out.length; i++) { const x = points[i * k + r]; out[i] = x === x ? x : gap; }
  return out;
}

/** 64 colours between the steps of a scale, red green blue each. @param {[number, string][]} scale */
function palette(scale) {
  const stops = scale.map(([, hex]) => rgb(hex));
  return Array.from({ length: 64 }, (_, i) => {
    const p = (i / 63) * (stops.length - 1), k = Math.min(Math.floor(p), stops.length - 2), f = p - k;
    return stops[k].map((c, j) => (1 - f) * c + f * stops[k + 1][j]);
  });
}

/** @param {number} value @param {{low: number, high: number}} color which of the 64 colours */
const shade = (value, color) =>
  Math.max(0, Math.min(63, Math.round((63 * (value - color.low)) / (color.high - color.low)))) || 0;

/** Whether a click on a mark does something. @param {Mark} mark */
const clickable = (mark) => follows(mark) || ["choose", "replay"].includes(mark.hand?.kind ?? "");

/** Whether a mark is painted under the axes. @param {Mark} mark */
const grounds = ({ draws }) => draws === "field" || draws === "cells";

/** Whether its colours change. @param {Color | null} color */
const live = (color) => color && !("bdata" in color.of);

/** One view of a recipe in one element. */
export class Panel {
  /**
   * @param {HTMLElement} element @param {View} view @param {(name: string) => string} color
   * @param {Plotly} Plotly @param {boolean} fast
   * @param {{picked: (layer: Mark, index: number) => void, turned: (camera: Camera) => void}} hand what a hand does with it
   */
  constructor(element, view, color, Plotly, fast, hand) {
    /** @type {Plotly} the element, which Plotly makes its own */ this.gd = element;
    this.view = view;
    /** @type {Plotly} */ this.Plotly = Plotly;
    this.fast = fast;
    /** @type {Map<string, string>} */ this.colors = new Map();
    this.color = (/** @type {string} */ name) => {
      const known = this.colors.get(name) ?? color(name);
      this.colors.set(name, known);
      return known;
    };
    this.hand = hand;
    /** @type {(layer: Mark | null, index: number) => void} */ this.hovered = () => {};
    /** @type {() => void} */ this.plotted = () => {};
    /** @type {() => void} */ this.rested = () => {};
    /** @type {Frame} the last frame */ this.frame = Object.assign([], { room: AS_WIDE });
    /** @type {Frame | null} the same while things move, as long as nobody else has drawn */ this.painted = null;
    /** @type {Map<number, Kept>} buffers of each layer, kept from frame to frame */
    this.buffers = new Map();
    /** @type {HTMLCanvasElement | null} */ this.canvas = null;
    /** @type {HTMLCanvasElement | null} */ this.ground = null; // under the axes, for fields
    this.sizes = new ResizeObserver(() => this.#fit());
    this.watching = new AbortController(); // of the screen, and of what happens to a 3D figure
    /** @type {unknown[]} */ this.grounded = []; // what the ground shows
    /** @type {OffscreenCanvasRenderingContext2D | null} */ this.grid = null; // one pixel a point of the field
    /** @type {WeakMap<Mark, {points: Float32Array, place: string, path: Path2D}>} */ this.paths = new WeakMap(); // of layers on the canvas
    this.turning = 0; // cameras of our own on their public way
    /** @type {import("../engine/crowds.mjs").Crowd[]} as the public way showed them last */ this.crowds = [];
    /** @type {{frame: Frame, camera: Camera | null} | null} what the public way showed last */ this.settled = null;
    /** @type {ReturnType<typeof picking> | null} 3D, on the fast way */ this.picking = null;
    /** @type {import("./depth.mjs").Look} */ this.depth = { paper: [1, 1, 1], shape: SHAPES.label, still: true };
    /** @type {WeakMap<object, object>} of each of Plotly's objects, its part of that */ this.looks = new WeakMap();
    /** @type {(shader: Plotly) => void} makes a shader quick, on the fast way */ this.mend = () => {};
    this.opened = false;
    this.closed = false;
  }

  /** Tell of the point under the pointer; −1: there is none. @param {(layer: Mark | null, index: number) => void} hear */
  whenHovered(hear) { this.hovered = hear; }

  /** Tell when Plotly has drawn: axes may have moved. @param {() => void} hear */
  whenPlotted(hear) { this.plotted = hear; }

  /** Tell when a frame stands for good. @param {() => void} hear */
  whenRested(hear) { this.rested = hear; }

  /** Another view of the same kind; the next frame is of it. @param {View} view */
  show(view) {
    this.view = view;
    this.settled = null;
  }

  /** The camera as a hand has turned it. @param {Camera} camera */
  turn(camera) {
    this.setCamera(camera);
    this.hand.turned(camera);
  }

  /** Where the axes end now. */
  get ranges() { return widened(this.view.ranges, this.frame.room); }

  /** Whether they move with the sliders or the stages. */
  get axesMove() { return this.view.wider.length + this.view.room.length > 0; }

  get is3d() { return this.view.dims === 3; }
  /** @returns {Plotly} its private scene */
  get scene() { return this.gd._fullLayout?.scene?._scene; }

  /** @param {Frame} frame @param {Camera | null} camera */
  async open(frame, camera) {
    this.frame = frame;
    const { data, layout } = this.#figure(frame, camera), drawn = () => this.Plotly.newPlot(this.gd, data, layout, CONFIG);
    const { built, look } = caught(() => (this.is3d ? this.#built(drawn) : drawn().then(() => null)));
    const gl = await built.catch((/** @type {unknown} */ error) => {
      throw this.is3d && !this.scene?.glplot ? new NoWebGL() : error;
    });
    this.opened = true;
    if (this.closed) return this.close();
    if (this.is3d && !this.scene?.glplot) throw new NoWebGL();
    this.gd.on("plotly_click", (/** @type {Plotly} */ event) => {
      const { layer, index } = this.#clicked(event.points[0]);
      if (clickable(layer)) this.hand.picked(layer, index);
    });
    this.gd.on("plotly_hover", (/** @type {Plotly} */ event) => this.hovered(this.view.layers[event.points[0].curveNumber], event.points[0].pointNumber));
    this.gd.on("plotly_unhover", () => this.hovered(null, -1));
    if (this.is3d) {
      const moved = (/** @type {Plotly} */ event) => {
        if (!("scene.camera" in event) || this.turning) return;
        this.gd.classList.add("turning");
        this.hand.turned(this.camera());
      };
      this.gd.on("plotly_relayouting", moved);
      this.gd.on("plotly_relayout", moved);
      this.gd.addEventListener("wheel", this.#zoom, { passive: false, capture: true });
      if (gl) this.#pickOnDemand(gl);
      this.#prepare();
      this.#dash(frame);
      this.#keepListening();
      redraw(this.scene.glplot);
      if (look) pulse(this.gd, look, this.watching.signal);
    } else {
      const canvas = (/** @type {string} */ className) => Object.assign(document.createElement("canvas"), { className });
      this.canvas = this.gd.appendChild(canvas("motion"));
      if (this.view.layers.some(grounds)) this.ground = canvas("ground");
      if (this.ground) this.gd.prepend(this.ground);
      this.#follow();
      this.#watchResolution();
    }
    this.gd.on("plotly_afterplot", () => { this.#follow(); this.plotted(); });
    this.sizes.observe(this.gd);
    this.painted = frame;
    this.settled = { frame, camera: this.is3d ? this.camera() : null };
    this.rested();
  }

  /** A 3D figure, which draws with depth; on the fast way unseen. @param {() => Promise<unknown>} build
   * @returns {Promise<WebGLRenderingContext | null>} the context of the fast way */
  async #built(build) {
    const { depth } = /** @type {Plotly} */ (this.view.figure.layout).meta, own = (/** @type {WebGLRenderingContext} */ gl) => deepen(gl, depth, this.depth);
    if (!this.fast) return within(build, own).then(() => null);
    const { gl, mend } = await unseen(build, own);
    this.mend = mend;
    return gl;
  }

  /** The mark that a click means: in the plane, where several have a point, the one that is drawn last; Plotly takes the smallest.
   * @param {Plotly} point */
  #clicked({ curveNumber, pointNumber, x, y }) {
    const { layers } = this.view, found = { layer: layers[curveNumber], index: pointNumber };
    if (this.is3d) return found;
    const [left, top] = this.pixel(x, y);
    for (let l = layers.length - 1; l > curveNumber; l--) {
      const { points } = this.frame[l], near = (/** @type {number} */ i) => {
        const [a, b] = this.pixel(points[2 * i], points[2 * i + 1]);
        return Math.hypot(a - left, b - top) < SAME;
      };
      for (let i = 0; clickable(layers[l]) && 2 * i < points.length; i++) if (near(i)) return { layer: layers[l], index: i };
    }
    return found;
  }

  /** Points are there to be picked as soon as the pointer is. @param {WebGLRenderingContext} gl */
  #pickOnDemand(gl) {
    const { gd, scene } = this, own = (this.picking = picking(gl));
    gd.addEventListener("pointerenter", () => own.come(() => { scene.glplot.update({}); redraw(scene.glplot); }));
    gd.addEventListener("pointerleave", () => own.leave());
  }

  /** 2D: left, top, width and height of the axes, in pixels of the element. */
  get axesBox() {
    const { xaxis, yaxis } = this.gd._fullLayout;
    return [xaxis._offset, yaxis._offset, xaxis._length, yaxis._length];
  }

  /** 2D: where a point is in the element, in pixels. @param {number} x @param {number} y */
  pixel(x, y) {
    const [left, top, wide, high] = this.axesBox, [[west, east], [south, north]] = this.ranges;
    return [left + ((x - west) / (east - west)) * wide, top + ((north - y) / (north - south)) * high];
  }

  /** 2D: the point at a pixel of the element. @param {number} left @param {number} top */
  point(left, top) {
    const [west, north, wide, high] = this.axesBox, [x, y] = this.ranges;
    return [x[0] + ((left - west) / wide) * (x[1] - x[0]), y[1] - ((top - north) / high) * (y[1] - y[0])];
  }

  /** The figure fits its element, with the camera where it is: Plotly looks at the window only. */
  async #fit() {
    const { width, height } = this.gd._fullLayout, { clientWidth, clientHeight } = this.gd;
    if (this.closed || !clientWidth || !clientHeight || (width === clientWidth && height === clientHeight)) return;
    const camera = this.is3d ? this.camera() : null;
    this.#forget();
    await this.Plotly.relayout(this.gd, { width: clientWidth, height: clientHeight });
    if (this.closed) return;
    if (camera) this.setCamera(camera);
    this.rested();
    if (camera && this.moving) this.paint(this.frame); // Plotly has drawn what had settled before
  }

  get moving() { return this.gd.classList.contains("moving"); }

  /** 2D: the canvases as the axes are now, which Plotly has just drawn. Nobody else has to think of their sizes. */
  #follow() {
    if (this.is3d || this.closed || !this.canvas) return;
    if (this.moving) this.#paintCanvas(this.frame);
    else this.#paintGround(this.frame);
  }

  /** A page that is zoomed, or taken to another screen, has other pixels under the same axes. */
  #watchResolution() {
    const { signal } = this.watching, same = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    same.addEventListener("change", () => { this.#follow(); this.#watchResolution(); }, { once: true, signal });
  }

  #forget() {
    this.painted = null;
    this.buffers.clear();
  }

  /** Traces and layout with the frame's positions. @param {Frame} frame @param {Camera | null} camera */
  #figure(frame, camera) {
    if (this.is3d) this.depth.paper = rgb(this.color("paper"));
    const figure = /** @type {{data: Trace[], layout: Plotly}} */ (resolve(this.view.figure, this.color));
    const data = figure.data.map((trace, l) =>
      this.#filled({ ...trace, uid: `layer-${l}` }, frame[l]));
    this.ranges.forEach((range, r) => { (figure.layout.scene ?? figure.layout)[`${"xyz"[r]}axis`].range = range; });
    if (this.crowds.length) data.push(this.#counted(figure.layout.font, camera));
    if (this.is3d && camera) {
      figure.layout.scene.camera = { ...figure.layout.scene.camera, ...this.#plotlyCamera(camera) };
    }
    const { clientWidth, clientHeight, _fullLayout: before } = this.gd; // hidden, it keeps the size that it had
    return { data, layout: { ...figure.layout, width: clientWidth || before?.width, height: clientHeight || before?.height } };
  }

  /** Beside each place that many points share, how many, where that can be read. @param {Plotly} font @param {Camera | null} camera
   * @returns {Trace} */
  #counted({ family, color }, camera) {
    const { clientWidth: width, clientHeight: height } = this.gd, all = this.crowds.map(({ place }) => place), [[low, high], [bottom, top]] = this.ranges;
    const at = this.is3d ? camera && flat(Float32Array.from(all.flat()), this.ranges, camera, width, height)
      : all.flatMap(([x, y]) => [((x - low) / (high - low)) * width, ((y - bottom) / (top - bottom)) * height]);
    const crowds = at ? legible(this.crowds, at, CROWDED) : this.crowds;
    const coordinates = Object.fromEntries([..."xyz"].slice(0, this.view.dims).map((name, r) => [name, crowds.map(({ place }) => place[r])]));
    return { type: this.is3d ? "scatter3d" : "scatter", mode: "text", uid: "crowds", ...coordinates, text: crowds.map(({ count }) => `×${count}`),
      textposition: this.is3d ? "top right" : crowds.map(({ place: [x, y] }) => beside(x, y, top - bottom)),
      textfont: { size: CROWDED, family, color }, hoverinfo: "skip", showlegend: false, cliponaxis: false };
  }

  /** @param {Trace} trace @param {Drawn} drawn */
  #filled(trace, drawn) {
    const k = this.view.dims;
    for (let r = 0; r < k; r++) trace["xyz"[r]] = column(drawn.points, k, r, k === 3 && trace.mode === "markers" ? outside(this.view)[r] : NaN);
    if (k === 3 && trace.marker?.symbol === "circle") trace.marker.symbol = "square"; // out of which a disc is cut: sooner made, and moved, than Plotly's
    trace.opacity = drawn.opacity;
    if (drawn.text) trace.hovertext = drawn.text;
    if (drawn.values && trace.type === "mesh3d") trace.intensity = Array.from(drawn.values);
    else if (drawn.values && trace.marker) trace.marker.color = Array.from(drawn.values);
    return trace;
  }

  /** What Plotly's objects do not do by themselves: those at opacity 0 are not drawn at all, only layers to be picked take part in
   * hover and clicks (a sphere never hides the points behind it), and points know how they look from afar.
   * @returns {boolean} whether Plotly has drawn some otherwise */
  #prepare() {
    let otherwise = false;
    const counts = this.scene?.traces?.crowds?.textMarkers;
    if (counts) {
      const { draw } = Object.getPrototypeOf(counts);
      counts.isTransparent = () => false;
      counts.isOpaque = () => counts.opacity >= 1;
      counts.drawPick = () => {};
      counts.draw = (/** @type {Plotly} */ camera) => {
        Object.assign(this.depth, { shape: SHAPES.count, still: true }); // far away, too, it is to be read
        draw.call(counts, camera);
      };
      otherwise = true;
    }
    this.view.layers.forEach((layer, l) => {
      const trace = this.scene?.traces?.[`layer-${l}`];
      for (const object of [trace?.scatterPlot, trace?.linePlot, trace?.textMarkers, trace?.mesh]) {
        if (!object) continue;
        if (!object.axesProject?.some(Boolean)) object.projectHasAlpha = null; // nothing is projected onto the walls, opaque or not
        object.isOpaque = () => object.opacity >= 1;
        object.isTransparent = () => object.opacity > 0 && object.opacity < 1;
        const { draw, drawTransparent, drawPick, update } = Object.getPrototypeOf(object), look = lookOf(layer);
        otherwise ||= JSON.stringify(this.looks.get(object)) !== JSON.stringify(look);
        this.looks.set(object, look);
        const drawn = (/** @type {(camera: Plotly) => void} */ own) => (/** @type {Plotly} */ camera) => {
          Object.assign(this.depth, look);
          this.mend(object.useOrtho ? object.orthoShader : object.shader ?? object.triShader); // which may have no program before it is first drawn
          if (sharing.has(object)) byNumbers(object, () => own.call(object, camera)); else own.call(object, camera);
        };
        if (object === trace.mesh) object.update = (/** @type {Plotly} */ given) => { parted(object); update.call(object, given); };
        object.draw = drawn(draw);
        object.drawTransparent = drawn(drawTransparent);
        object.drawPick = drawn((camera) => { if (clickable(layer) && (this.picking?.hovered ?? true)) drawPick.call(object, camera); });
      }
    });
    return otherwise;
  }

  /** Dashes where they are in motion: at rest they would stand elsewhere. @param {Frame} frame @returns {boolean} whether there are some */
  #dash(frame) {
    const { scene } = this, dashed = this.fast && scene?.glplot ? this.view.layers.flatMap((layer, l) => (layer.pattern?.length ? [l] : [])) : [];
    try {
      for (const l of dashed) this.#paintLayer(scene, scene.traces[`layer-${l}`], this.view.layers[l], frame[l], l);
    } catch {
      this.fast = false;
    }
    return this.fast && dashed.length > 0;
  }

  /** With every update Plotly sets the camera's mode anew, and a camera whose mode has just been set sways for half a second, in which
   * it is deaf to the hand: as it opens it is where it will be, long since; later its mode stays. */
  #keepListening() {
    const scene = this.scene, set = scene?.updateFx;
    if (!set || !scene.camera) return;
    const { eye, center } = this.gd._fullLayout.scene.camera;
    scene.camera.lookAt(xyz(eye), xyz(center), xyz(UP));
    scene.camera.view.flush(Infinity);
    for (const part of Object.values(scene.camera.view._active)) part?._time?.fill(0);
    scene.updateFx = (/** @type {string} */ dragmode, /** @type {string} */ hovermode) => {
      if (scene.camera.mode === dragmode) scene.fullSceneLayout.hovermode = hovermode;
      else set.call(scene, dragmode, hovermode);
    };
  }

  /** Show a frame while things move; nothing is drawn where nothing has. @param {Frame} frame */
  paint(frame) {
    if (!this.opened || same(frame, this.painted)) return;
    this.frame = this.painted = frame;
    if (!this.is3d) return this.#paintCanvas(frame);
    this.gd.classList.add("moving");
    if (this.fast && this.#paintBuffers(frame)) return;
    this.settle(frame);
  }

  /** Show a frame for good: the public way, with the camera where it is.
   * @param {Frame} frame @param {import("../engine/crowds.mjs").Crowd[]} [crowds] places that many points share */
  async settle(frame, crowds = []) {
    if (!this.opened) return;
    const camera = this.is3d ? this.camera() : null, before = this.settled;
    if (!this.moving && same(frame, before?.frame, "text") && JSON.stringify(crowds) === JSON.stringify(this.crowds) && String(camera?.eye) === String(before?.camera?.eye)
      && String(camera?.center) === String(before?.camera?.center) && this.#keepsColors()) return this.rested();
    this.colors.clear();
    this.frame = frame;
    this.crowds = crowds;
    const { data, layout } = this.#figure(frame, camera);
    this.#forget();
    this.settled = { frame, camera };
    await this.Plotly.react(this.gd, data, layout, CONFIG);
    if (this.closed) return;
    if (this.is3d) {
      const otherwise = this.#prepare();
      if (this.#dash(frame) || otherwise) redraw(this.scene.glplot);
    } else /** @type {HTMLCanvasElement} */ (this.canvas).hidden = true;
    this.gd.classList.remove("moving");
    this.#follow();
    this.rested();
  }

  /** Whether the theme is the one that was drawn last. */
  #keepsColors() {
    const known = new Map(this.colors);
    this.colors.clear();
    return [...known].every(([name, color]) => this.color(name) === color);
  }

  /** @param {Frame} frame @returns {boolean} whether Plotly's internals were as expected */
  #paintBuffers(frame) {
    const scene = this.scene;
    if (!scene?.glplot || !scene.traces) return false;
    try {
      frame.forEach((drawn, l) => this.#paintLayer(scene, scene.traces[`layer-${l}`], this.view.layers[l], drawn, l));
    } catch {
      return (this.fast = false);
    }
    this.ranges.forEach(([low, high], r) => scene.glplot.setBounds(r, { min: low * scene.dataScale[r], max: high * scene.dataScale[r] }));
    if (scene.traces.crowds?.textMarkers) scene.traces.crowds.textMarkers.opacity = 0; // who stood together goes apart
    redraw(scene.glplot);
    return true;
  }

  /** @param {Plotly} scene @param {Plotly} trace @param {Mark} layer @param {Drawn} drawn @param {number} l */
  #paintLayer(scene, trace, layer, drawn, l) {
    let kept = this.buffers.get(l);
    const solid = Boolean(trace.mesh);
    if (!kept) this.buffers.set(l, (kept = { rgb: solid && layer.color ? [1, 1, 1] : rgb(this.color(layer.role)) }));
    const object = trace.mesh ?? (layer.draws === "labels" ? trace.textMarkers : trace.scatterPlot ?? trace.linePlot);
    if (!solid && kept.opacity !== drawn.opacity) {
      object.opacity = drawn.opacity;
      object.hasAlpha = drawn.opacity < 1;
    }
    if (layer.draws === "labels") return;
    if (kept.points !== drawn.points) {
      const write = solid ? writeMesh : layer.draws === "points" ? writePoints : writeLine;
      write(object, drawn.points, scene.dataScale, kept, layer, kept.rgb, this.view);
    }
    if (solid && kept.opacity !== drawn.opacity) fadeMesh(object, drawn.opacity, kept, kept.rgb);
    if (solid && layer.color && drawn.values && kept.values !== drawn.values) shadeMesh(object, drawn.values, kept, /** @type {Color} */ (layer.color));
    if (layer.draws === "points" && drawn.values && kept.values !== drawn.values) this.#colorPoints(object, drawn.values, layer, kept, l);
    Object.assign(kept, { points: drawn.points, opacity: drawn.opacity, values: drawn.values });
  }

  /** @param {Plotly} cloud @param {Float32Array} values @param {Mark} layer @param {Kept} kept @param {number} l */
  #colorPoints(cloud, values, layer, kept, l) {
    if (!live(layer.color)) return;
    kept.palette ??= palette(resolve(this.view.figure.data[l].marker.colorscale, this.color));
    const each = cloud.vertexCount / values.length;
    kept.colors ??= new Float32Array(4 * cloud.vertexCount).fill(1);
    for (let i = 0, at = 0; i < values.length; i++) {
      const [r, g, b] = kept.palette[shade(values[i], /** @type {Color} */ (layer.color))];
      for (let v = 0; v < each; v++, at += 4) {
        kept.colors[at] = r; kept.colors[at + 1] = g; kept.colors[at + 2] = b;
      }
    }
    cloud.colorBuffer.update(kept.colors, 0);
  }

  /** @returns {Camera} */
  camera() {
    const camera = this.scene?.getCamera?.() ?? this.gd._fullLayout.scene.camera;
    return { eye: xyz(camera.eye), center: xyz(camera.center) };
  }

  /** @param {Camera} camera */
  #plotlyCamera({ eye, center }) {
    const named = (/** @type {number[]} */ [x, y, z]) => ({ x, y, z });
    return { eye: named(eye), center: named(center), up: UP };
  }

  /** @param {Camera} camera */
  setCamera(camera) {
    if (!this.is3d || !this.opened) return;
    const scene = this.scene;
    this.gd.classList.add("turning");
    if (this.fast && scene?.camera?.lookAt) {
      scene.camera.lookAt(camera.eye, camera.center, xyz(UP));
      redraw(scene.glplot);
    } else {
      this.turning++;
      this.Plotly.relayout(this.gd, { "scene.camera": this.#plotlyCamera(camera) }).finally(() => this.turning--);
    }
  }

  /** The page scrolls with the wheel; with Ctrl, or two fingers, the camera comes closer. */
  #zoom = (/** @type {WheelEvent} */ event) => {
    event.stopPropagation(); // Plotly would keep the page from scrolling
    if (!event.ctrlKey) return;
    event.preventDefault();
    const { eye, center } = this.camera(), f = Math.exp(event.deltaY / 300);
    this.setCamera({ eye: eye.map((e, i) => center[i] + f * (e - center[i])), center });
    this.hand.turned(this.camera());
  };

  /** 2D: the layers on a canvas over the axes. @param {Frame} frame */
  #paintCanvas(frame) {
    const canvas = /** @type {HTMLCanvasElement} */ (this.canvas);
    this.#paintGround(frame);
    const context = this.#cleared(canvas), [left, top] = this.pixel(0, 0), [right, low] = this.pixel(1, 1);
    const px = (/** @type {number} */ x) => left + x * (right - left), py = (/** @type {number} */ y) => top + y * (low - top);
    if (this.axesMove) this.#cross(context, left, top);
    frame.forEach((drawn, l) => this.#drawLayer(context, this.view.layers[l], this.view.figure.data[l], drawn, px, py));
    context.restore();
    canvas.hidden = false;
    this.gd.classList.add("moving");
  }

  /** The lines through 0 of axes that move: Plotly would draw all anew. @param {CanvasRenderingContext2D} context @param {number} x @param {number} y */
  #cross(context, x, y) {
    const [left, top, wide, high] = this.axesBox;
    context.fillStyle = this.color("rule");
    context.fillRect(Math.round(x - 0.5), top, 1, high);
    context.fillRect(left, Math.round(y - 0.5), wide, 1);
    this.gd.classList.add("reaching");
  }

  /** A canvas as large as Plotly's figure, empty, clipped to the axes; whoever draws restores it. @param {HTMLCanvasElement} canvas */
  #cleared(canvas) {
    const { width, height } = this.gd._fullLayout, [left, top, wide, high] = this.axesBox, ratio = devicePixelRatio;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
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

  /** Fields and cells, under the axes. @param {Frame} frame */
  #paintGround(frame) {
    if (!this.ground) return;
    const { width, height } = this.gd._fullLayout, own = frame.filter((_, l) => grounds(this.view.layers[l]));
    const showing = [...own.flatMap(({ values, points, opacity }) => [values, points, opacity]), ...frame.room, width, height, ...this.axesBox, devicePixelRatio, this.color("paper")];
    if (showing.every((part, i) => part === this.grounded[i])) return;
    this.grounded = showing;
    const context = this.#cleared(this.ground);
    frame.forEach((drawn, l) => { if (grounds(this.view.layers[l])) this.#drawGrid(context, l, drawn); });
    context.restore();
  }

  /** One pixel a point of a grid, the lowest row last, enlarged: smoothly over the whole view, or cells as they are, to where
   * their points stand. @param {CanvasRenderingContext2D} context @param {number} l @param {Drawn} drawn */
  #drawGrid(context, l, { points, values, opacity }) {
    const { color, columns, draws } = this.view.layers[l], numbers = /** @type {Float32Array} */ (values), high = numbers.length / columns;
    const shades = palette(resolve(this.view.figure.data[l].colorscale, this.color)).map(([r, g, b]) =>
      ((255 << 24) | (Math.round(255 * b) << 16) | (Math.round(255 * g) << 8) | Math.round(255 * r)) >>> 0); // little endian
    const image = new ImageData(columns, high), dots = new Uint32Array(image.data.buffer);
    for (let y = 0; y < high; y++) {
      for (let x = 0; x < columns; x++) dots[columns * (high - 1 - y) + x] = shades[shade(numbers[columns * y + x], /** @type {Color} */ (color))];
    }
    if (this.grid?.canvas.width !== columns || this.grid?.canvas.height !== high) this.grid = new OffscreenCanvas(columns, high).getContext("2d");
    const grid = /** @type {OffscreenCanvasRenderingContext2D} */ (this.grid);
    grid.putImageData(image, 0, 0);
    const smooth = draws === "field", [left, top, wide, tall] = this.axesBox, last = points.length - 2;
    const [x, y] = smooth ? [left, top + tall] : this.pixel(points[0], points[1]);
    const [right, upper] = smooth ? [left + wide, top] : this.pixel(points[last], points[last + 1]);
    const dx = (right - x) / (columns - 1), dy = (y - upper) / (high - 1);
    Object.assign(context, { globalAlpha: opacity, imageSmoothingEnabled: smooth });
    context.drawImage(grid.canvas, x - dx / 2, upper - dy / 2, right - x + dx, y - upper + dy);
  }

  /** @param {CanvasRenderingContext2D} context @param {Mark} layer @param {Trace} trace @param {Drawn} drawn
   * @param {(x: number) => number} px @param {(y: number) => number} py */
  #drawLayer(context, layer, trace, drawn, px, py) {
    if (!(drawn.opacity > 0) || grounds(layer)) return;
    const { points } = drawn, n = points.length / 2, color = this.color(layer.role);
    Object.assign(context, { globalAlpha: drawn.opacity, fillStyle: color, strokeStyle: color, lineJoin: "round" });
    if (layer.draws === "labels") {
      Object.assign(context, { font: `${trace.textfont.size}px ${trace.textfont.family}`, textAlign: "center", textBaseline: "middle" });
      for (let i = 0; i < n; i++) context.fillText(trace.text[i], px(points[2 * i]), py(points[2 * i + 1]));
    } else if (layer.draws === "points") {
      drawMarkers(context, layer, trace, drawn, n, px, py, this.color);
    } else {
      context.lineWidth = trace.line.width;
      context.setLineDash(layer.pattern);
      context.stroke(this.#path(layer, points, px, py));
    }
  }

  /** The polyline of a layer, made anew only when it has moved or the axes have. @param {Mark} layer @param {Float32Array} points
   * @param {(x: number) => number} px @param {(y: number) => number} py @returns {Path2D} */
  #path(layer, points, px, py) {
    const place = [px, py].map((at) => [at(0), at(1)]).join(), known = this.paths.get(layer);
    if (known?.points === points && known.place === place) return known.path;
    const path = new Path2D();
    for (let i = 0, pen = false; i < points.length / 2; i++) {
      const x = points[2 * i];
      if (x !== x) { pen = false; continue; }
      if (pen) path.lineTo(px(x), py(points[2 * i + 1]));
      else path.moveTo(px(x), py(points[2 * i + 1]));
      pen = true;
    }
    this.paths.set(layer, { points, place, path });
    return path;
  }

  /** The axes of a 2D view by themselves, for `copy`: where they move, without their cross, which moves too. @returns {Promise<HTMLImageElement | null>} */
  async axes() {
    if (this.is3d) return null;
    const { _fullLayout: { width, height }, layout } = this.gd, image = new Image();
    const [xaxis, yaxis] = [layout.xaxis, layout.yaxis].map((axis) => ({ ...axis, zeroline: axis.zeroline && !this.axesMove }));
    image.src = await this.Plotly.toImage({ data: [], layout: { ...layout, xaxis, yaxis } }, { format: "svg", width, height });
    await image.decode();
    return image;
  }

  /** What moving things show now, onto another canvas. @param {CanvasRenderingContext2D} context @param {number} x @param {number} y
   * @param {HTMLImageElement | null} axes */
  copy(context, x, y, axes) {
    const { width, height } = this.gd._fullLayout, glplot = this.scene?.glplot;
    if (glplot) redraw(glplot); // a buffer lasts no longer than its frame
    for (const shown of glplot ? [glplot.canvas] : [this.ground, axes, this.canvas]) if (shown) context.drawImage(shown, x, y, width, height);
  }

  /** For printers, which find a WebGL canvas empty: a copy over it. @param {boolean} on */
  print(on) {
    this.gd.querySelector(".printed")?.remove();
    if (!on || !this.is3d) return;
    const { width, height } = this.gd._fullLayout, copy = Object.assign(this.#copied(Math.max(2, devicePixelRatio)), { className: "motion printed" });
    Object.assign(copy.style, { width: `${width}px`, height: `${height}px` }); // not the figure's: on paper it may be a little narrower
    this.gd.append(copy);
  }

  /** A picture of its own, of so many pixels for one; of space as it is drawn here: Plotly's own has no depth.
   * @param {number} ratio @returns {Promise<HTMLCanvasElement | HTMLImageElement>} */
  async picture(ratio) {
    if (this.is3d) return this.#copied(ratio);
    const { clientWidth: width, clientHeight: height } = this.gd, image = new Image();
    image.src = await this.Plotly.toImage(this.gd, { format: "png", scale: ratio, width, height });
    await image.decode();
    return image;
  }

  /** @param {number} ratio */
  #copied(ratio) {
    const { width, height } = this.gd._fullLayout, canvas = document.createElement("canvas"), context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    Object.assign(canvas, { width: width * ratio, height: height * ratio });
    context.scale(ratio, ratio);
    this.copy(context, 0, 0, null);
    return canvas;
  }

  /** Frees the figure and its WebGL context. */
  close() {
    this.closed = true;
    this.sizes.disconnect();
    this.watching.abort();
    const gl = this.scene?.glplot?.gl;
    this.Plotly.purge(this.gd);
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

/** Why there is no picture. */
export class NoWebGL extends Error {}

/** Where a count stands in a plane: towards the upright axis, and away from the other, so that no line from the origin through its
 * place, nor the tip of one, is under it. @param {number} x @param {number} y @param {number} high of the picture: a hair is none of it */
const beside = (x, y, high) => `${y > -high / 100 ? "top" : "bottom"} ${x > 0 ? "left" : "right"}`;

/** Whether two frames look the same. @param {Frame} a @param {Frame | null | undefined} b @param {(keyof Drawn)[]} more to be the same */
const same = (a, b, ...more) => a.room.every((x, k) => x === b?.room[k]) && a.every((drawn, l) => [...PARTS, ...more].every((part) => b?.[l]?.[part] === drawn[part]));

/** How a layer's points are drawn; only the followed one never fades. @param {Mark} layer */
const lookOf = ({ draws, glyph, only }) => ({ shape: draws === "points" ? SHAPES[/** @type {keyof typeof SHAPES} */ (glyph)] : SHAPES.label, still: only === "followed" });

/** Let Plotly build a figure in WebGL without drawing it meanwhile, and compile only what it will draw with.
 * @param {() => Promise<unknown>} build @param {(gl: WebGLRenderingContext) => void} own what else the context is made to do
 * @returns {Promise<{gl: WebGLRenderingContext, mend: (shader: Plotly) => void}>} its context */
async function unseen(build, own) {
  /** @type {Plotly} */ let gl = null, /** @type {(shader: Plotly) => void} */ mend = () => {};
  await within(build, (context) => {
    mend = lazily((gl = context));
    own(gl);
    gl.drawArrays = gl.drawElements = () => {};
  });
  delete gl?.drawArrays;
  delete gl?.drawElements;
  return { gl, mend };
}

/** Let Plotly build a figure, and each WebGL context be changed as soon as there is one.
 * @param {() => Promise<unknown>} build @param {(gl: WebGLRenderingContext) => void} change */
async function within(build, change) {
  const { prototype } = HTMLCanvasElement, { getContext } = prototype, known = /** @type {WeakSet<WebGLRenderingContext>} */ (new WeakSet());
  prototype.getContext = /** @type {typeof getContext} */ (function (/** @type {Parameters<typeof getContext>} */ ...asked) {
    // @ts-ignore: `this` is the canvas
    const context = /** @type {Plotly} */ (getContext.apply(this, asked));
    if (context && /webgl/.test(asked[0]) && !known.has(context)) {
      known.add(context);
      change(context);
    }
    return context;
  });
  try {
    await build();
  } finally {
    prototype.getContext = getContext;
  }
}

/** Draw now, without what Plotly does at each drawing for axes and ticks (ours are hidden), hover (hidden while things move) and the
 * size of its canvas (which is ours to tell), which would make the browser lay the page out in every frame, and without its question
 * whether a buffer that it has kept is still one, for whose answer the page would wait until all that was drawn before is done.
 * @param {Plotly} glplot */
function redraw(glplot) {
  const { onrender, autoResize, gl, axes } = glplot;
  Object.assign(glplot, { onrender: null, autoResize: false });
  axes.enable = false;
  gl.isBuffer = () => true;
  glplot.redraw();
  delete gl.isBuffer;
  axes.enable = true;
  Object.assign(glplot, { onrender, autoResize });
}

/** @param {CanvasRenderingContext2D} context @param {Mark} layer @param {Trace} trace @param {Drawn} drawn @param {number} n
 * @param {(x: number) => number} px @param {(y: number) => number} py @param {(name: string) => string} color */
function drawMarkers(context, layer, trace, drawn, n, px, py, color) {
  const { points, values } = drawn, radius = layer.size / 2, square = trace.marker.symbol === "square";
  const colors = values && palette(resolve(trace.marker.colorscale, color)).map((c) => `rgb(${c.map((v) => v * 255)})`);
  /** @type {Map<number, number[]>} */ const groups = new Map();
  for (let i = 0; i < n; i++) {
    const key = values ? shade(values[i], /** @type {Color} */ (layer.color)) : 0;
    const group = groups.get(key);
    if (group) group.push(i); else groups.set(key, [i]);
  }
  for (const [key, group] of groups) {
    if (colors) context.fillStyle = context.strokeStyle = colors[key];
    context.beginPath();
    context.lineWidth = 1.5;
    for (const i of group) {
      const x = px(points[2 * i]), y = py(points[2 * i + 1]);
      if (square) context.rect(x - radius, y - radius, layer.size, layer.size);
      else { context.moveTo(x + radius, y); context.arc(x, y, radius, 0, 2 * Math.PI); }
    }
    if (layer.glyph === "ring") context.stroke(); else context.fill();
  }
}

/** Markers: each point's position once per vertex of its glyph, first those of all faces, then those of all edges; what has not moved
 * since the frame before stays as it is. @param {Plotly} cloud @param {Float32Array} points @param {number[]} scale
 * @param {Kept} kept @param {Mark} layer @param {number[]} color @param {View} view */
function writePoints(cloud, points, scale, kept, layer, color, view) {
  const away = outside(view), n = points.length / 3, faces = cloud.vertexCount / n, edges = cloud.lineVertexCount / n;
  if (!Number.isInteger(faces) || !Number.isInteger(edges)) throw new Error("unexpected glyphs");
  const before = kept.array ? kept.points : null, out = (kept.array ??= new Float32Array(3 * n * (faces + edges)));
  let low = n, high = -1;
  for (let i = 0; i < n; i++) {
    if (before && stays(before, points, 3 * i)) continue;
    const gap = points[3 * i] !== points[3 * i], from = gap ? away : points, o = gap ? 0 : 3 * i;
    const x = from[o] * scale[0], y = from[o + 1] * scale[1], z = from[o + 2] * scale[2];
    for (let at = 3 * i * faces, end = at + 3 * faces; at < end; at += 3) { out[at] = x; out[at + 1] = y; out[at + 2] = z; }
    for (let at = 3 * (n * faces + i * edges), end = at + 3 * edges; at < end; at += 3) { out[at] = x; out[at + 1] = y; out[at + 2] = z; }
    low = Math.min(low, i);
    high = i;
  }
  for (const [from, each] of [[0, faces], [n * faces, edges]]) {
    const first = 3 * (from + low * each), end = 3 * (from + (high + 1) * each);
    if (end > first) cloud.pointBuffer.update(out.subarray(first, end), first * out.BYTES_PER_ELEMENT);
  }
}

/** Whether a point is where it was, or still a gap. @param {Float32Array} before @param {Float32Array} after @param {number} o its first number */
const stays = (before, after, o) => (after[o] === before[o] && after[o + 1] === before[o + 1] && after[o + 2] === before[o + 2])
  || (after[o] !== after[o] && before[o] !== before[o]);

/**
 * Lines: a strip of four vertices a segment, each (from, to, arc length, ±width, colour). Over a gap it is joined by the vertices before and
 * after it once more, which draw nothing. Lengths are those of the picture, a cube of the ranges: Plotly's, which are of its buffers,
 * change with the scale of these, and with them the places of dashes.
 * @param {Plotly} line @param {Float32Array} points @param {number[]} scale @param {Kept} kept @param {Mark} layer @param {number[]} color
 * @param {View} view
 */
function writeLine(line, points, scale, kept, layer, color, { ranges }) {
  const n = points.length / 3, [wx, wy, wz] = ranges.map(([low, high], r) => ((high - low) * scale[r]) ** -2);
  if (!(kept.array?.length >= 48 * (n - 1))) kept.array = lineTemplate(n, color);
  const out = kept.array;
  const gap = (/** @type {number} */ i) => points[3 * i] !== points[3 * i];
  let arc = 0, at = 0;
  for (let i = 1, joined = true; i < n; i++) {
    if (gap(i - 1) || gap(i)) { joined = at === 0; continue; }
    const a = 3 * i - 3, b = 3 * i, from = arc, first = joined ? at : at + 24;
    const ax = points[a] * scale[0], ay = points[a + 1] * scale[1], az = points[a + 2] * scale[2];
    const bx = points[b] * scale[0], by = points[b + 1] * scale[1], bz = points[b + 2] * scale[2];
    arc += Math.sqrt(wx * (bx - ax) ** 2 + wy * (by - ay) ** 2 + wz * (bz - az) ** 2);
    for (let v = 0, o = first; v < 4; v++, o += 12) {
      const start = v < 2;
      out[o] = start ? ax : bx; out[o + 1] = start ? ay : by; out[o + 2] = start ? az : bz;
      out[o + 3] = start ? bx : ax; out[o + 4] = start ? by : ay; out[o + 5] = start ? bz : az;
      out[o + 6] = start ? from : arc;
      out[o + 7] = v === 0 || v === 3 ? layer.size : -layer.size;
    }
    if (!joined) out.copyWithin(at, at - 12, at).copyWithin(at + 12, first, first + 12);
    joined = true;
    at = first + 48;
  }
  line.buffer.update(out.subarray(0, at));
  line.vertexCount = at / 12;
  line.arcLength = [0, arc || 1];
}

/** Room for n points. @param {number} n @param {number[]} color */
function lineTemplate(n, color) {
  const out = new Float32Array(48 * (n - 1));
  for (let v = 0; v < 4 * (n - 1); v++) out.set([...color, 1], 12 * v + 8);
  return out;
}

/** Meshes that are drawn by the numbers of their vertices, with the buffer of these: Plotly has a vertex for each corner of each triangle, six
 * times as many. @type {WeakMap<Plotly, WebGLBuffer>} */
const sharing = new WeakMap();

/** From now on each vertex of a mesh stands once in its buffers, until Plotly fills them. @param {Plotly} mesh
 * @returns {Uint32Array} the corners of its triangles */
function shared(mesh) {
  const { gl } = mesh, cells = Uint32Array.from(mesh.cells.flat()), numbers = gl.createBuffer();
  if (3 * mesh.triangleCount !== cells.length || !gl.getExtension("OES_element_index_uint")) throw new Error("unexpected triangles");
  const bind = () => gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, numbers);
  bind();
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, cells.map((_, c) => cells[c + 2 - 2 * (c % 3)]), gl.STATIC_DRAW); // last first, as Plotly has them
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, null);
  parted(mesh);
  arrange(mesh, { bind });
  sharing.set(mesh, numbers);
  return cells;
}

/** A mesh as Plotly has it. @param {Plotly} mesh */
function parted(mesh) {
  const numbers = sharing.get(mesh);
  if (!numbers) return;
  sharing.delete(mesh);
  arrange(mesh, null);
  mesh.gl.deleteBuffer(numbers);
}

/** What the shader of a mesh reads from which of its buffers, and in which order. @param {Plotly} mesh @param {{bind: () => void} | null} numbers */
function arrange({ gl, triangleVAO, trianglePositions, triangleIds, triangleColors, triangleUVs, triangleNormals }, numbers) {
  const floats = (/** @type {Plotly} */ buffer, /** @type {number} */ size) => ({ buffer, type: gl.FLOAT, size });
  triangleVAO.update([floats(trianglePositions, 3), { buffer: triangleIds, type: gl.UNSIGNED_BYTE, size: 4, normalized: true },
    floats(triangleColors, 4), floats(triangleUVs, 2), floats(triangleNormals, 3)], numbers);
}

/** Draw a mesh that shares its vertices. @param {Plotly} mesh @param {() => void} draw as Plotly does */
function byNumbers({ gl }, draw) {
  gl.drawArrays = (/** @type {number} */ mode, /** @type {number} */ first, /** @type {number} */ count) => gl.drawElements(mode, count, gl.UNSIGNED_INT, first);
  draw();
  delete gl.drawArrays;
}

/** Meshes: each vertex once, with its smooth normal, the way a mesh is drawn that shares its vertices. @param {Plotly} mesh
 * @param {Float32Array} points @param {number[]} scale @param {Kept} kept */
function writeMesh(mesh, points, scale, kept) {
  const cells = (kept.cells ??= shared(mesh)), out = (kept.array ??= new Float32Array(points.length)), sums = (kept.normals ??= new Float32Array(points.length));
  const [sx, sy, sz] = scale;
  for (let o = 0; o < points.length; o += 3) { out[o] = points[o] * sx; out[o + 1] = points[o + 1] * sy; out[o + 2] = points[o + 2] * sz; }
  sums.fill(0);
  for (let c = 0; c < cells.length; c += 3) {
    const i = 3 * cells[c], j = 3 * cells[c + 1], k = 3 * cells[c + 2];
    const ux = out[j] - out[i], uy = out[j + 1] - out[i + 1], uz = out[j + 2] - out[i + 2];
    const vx = out[k] - out[i], vy = out[k + 1] - out[i + 1], vz = out[k + 2] - out[i + 2];
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    sums[i] += nx; sums[i + 1] += ny; sums[i + 2] += nz;
    sums[j] += nx; sums[j + 1] += ny; sums[j + 2] += nz;
    sums[k] += nx; sums[k + 1] += ny; sums[k + 2] += nz;
  }
  for (let o = 0; o < sums.length; o += 3) {
    const length = Math.sqrt(sums[o] ** 2 + sums[o + 1] ** 2 + sums[o + 2] ** 2) || 1;
    sums[o] /= length; sums[o + 1] /= length; sums[o + 2] /= length;
  }
  mesh.trianglePositions.update(out, 0);
  mesh.triangleNormals.update(sums, 0);
}

/** Where on its colour scale each vertex of a mesh is. @param {Plotly} mesh @param {Float32Array} values @param {Kept} kept
 * @param {{low: number, high: number}} color */
function shadeMesh(mesh, values, kept, { low, high }) {
  const out = (kept.shades ??= new Float32Array(2 * values.length));
  for (let i = 0; i < values.length; i++) out[2 * i] = (values[i] - low) / (high - low);
  mesh.triangleUVs.update(out, 0);
}

/** A mesh carries its opacity in each vertex. @param {Plotly} mesh @param {number} opacity @param {Kept} kept @param {number[]} color */
function fadeMesh(mesh, opacity, kept, color) {
  const colors = (kept.colors ??= new Float32Array((4 * kept.array.length) / 3));
  for (let v = 0; v < colors.length; v += 4) {
    colors[v] = color[0]; colors[v + 1] = color[1]; colors[v + 2] = color[2]; colors[v + 3] = opacity;
  }
  mesh.triangleColors.update(colors, 0);
  mesh.opacity = opacity;
}
