// @ts-check
/**
 * A 3D figure's fast path: writes moving things into the buffers that Plotly has built, and draws at once;
 * never touches the camera. A failure is reported, and from then on the painter uses the public path.
 *
 * @typedef {import("../painter.mjs").Drawn} Drawn
 * @typedef {import("../painter.mjs").Frame} Frame
 * @typedef {import("../painter.mjs").Camera} Camera
 * @typedef {import("../../engine/recipe.d.ts").Mark} Mark
 * @typedef {import("../../engine/recipe.d.ts").Color} Color
 * @typedef {import("../../engine/engine.mjs").Trace} Trace
 * @typedef {import("../../engine/engine.mjs").View} View
 * @typedef {import("../../globals.mjs").Plotly} Plotly or what is private to it, such as its scene or a
 * buffer
 * @typedef {import("./buffers.mjs").Kept} Kept
 */

import { onlyOf } from "../../engine/engine.mjs";
import { clickable } from "../../engine/hands.mjs";
import { outside } from "../traces.mjs";
import { live, palette, resolve, rgb, shade } from "../colors.mjs";
import {
  byNumbers,
  fadeMesh,
  parted,
  shadeMesh,
  sharing,
  writeLine,
  writeMesh,
  writePoints,
} from "./buffers.mjs";
import { redraw, within } from "./context.mjs";
import { SHAPES, deepen } from "./depth.mjs";
import { guarded, report, wanted } from "./patches.mjs";
import { caught, pulse } from "./pulse.mjs";
import { cacheUniforms } from "./uniforms.mjs";

const UP = [0, 0, 1];

/** Raised when the browser cannot create a WebGL context. */
export class NoWebGL extends Error {}

/** The coordinates of a Plotly vector. @param {Record<"x" | "y" | "z", number>} vector @returns {number[]} */
const xyz = ({ x, y, z }) => [x, y, z];

export class Space {
  #gd;
  #color;
  /** @type {View} */ #view;
  /** @type {import("./depth.mjs").Look} */ #depth = { paper: [1, 1, 1], shape: SHAPES.label, still: true };
  /** @type {WeakMap<object, object>} the depth effects of each of Plotly's objects */ #looks = new WeakMap();
  /** @type {Map<number, Kept>} buffers of each layer, kept from frame to frame */ #buffers = new Map();
  /** @type {(shader: Plotly) => void} makes a shader set its uniforms where they change */ #mend = () => {};
  /** @type {import("./pulse.mjs").Look | null} */ #look = null;

  /** @param {Plotly} gd @param {View} view @param {(name: string) => string} color @param {boolean} fast
   * whether buffers are written */
  constructor(gd, view, color, fast) {
    this.#gd = gd;
    this.#view = view;
    this.#color = color;
    this.fast = fast && wanted("buffers");
  }

  /** @returns {Plotly} Plotly's own scene */
  get scene() {
    return this.#gd._fullLayout?.scene?._scene;
  }

  /** Whether the figure has a WebGL context. */
  get living() {
    return Boolean(this.scene?.glplot);
  }

  /** The canvas with the last drawing. @returns {HTMLCanvasElement | undefined} */
  get canvas() {
    return this.scene?.glplot?.canvas;
  }

  /** Show another view of the same kind. @param {View} view */
  show(view) {
    this.#view = view;
  }

  /** Set the background colour, into which far points fade. @param {string} color */
  paper(color) {
    this.#depth.paper = rgb(color);
  }

  /** Build the figure, patched with depth effects; on the fast path without drawing it yet.
   * @param {() => Promise<unknown>} draw */
  async build(draw) {
    const { depth } = /** @type {Plotly} */ (this.#view.figure.layout).meta;
    let deepened = () => !wanted("depth");
    /** @type {Plotly} */ let unseen = null;
    const build = () =>
      within(draw, (gl) => {
        if (this.fast && wanted("uniforms")) this.#mend = cacheUniforms(gl);
        if (wanted("depth")) deepened = deepen(gl, depth, this.#depth);
        if (!this.fast) return;
        unseen = gl;
        gl.drawArrays = gl.drawElements = () => {};
      });
    const { built, look } = wanted("pulse") ? caught(build) : { built: build(), look: null };
    await built.catch((error) => {
      throw this.living ? error : new NoWebGL();
    });
    delete unseen?.drawArrays;
    delete unseen?.drawElements;
    if (!look && wanted("pulse")) report("pulse", "the loop of frames was not found");
    if (this.#view.layers.some(({ draws }) => draws === "points") && !deepened())
      report("depth", "the shaders of markers have other texts");
    this.#look = look;
  }

  /** Draw for the first time. @param {Frame} frame @param {AbortSignal} signal aborts when the figure is
   * closed */
  open(frame, signal) {
    this.prepare();
    this.dash(frame);
    if (wanted("camera")) guarded("camera", () => this.#keepListening());
    // nor was what the pointer can pick
    this.#attempt(() => this.scene.glplot.update({}));
    this.redraw();
    if (this.#look) pulse(this.#gd, this.#look, signal);
  }

  redraw() {
    redraw(this.scene.glplot);
  }

  /** Forget cached buffers: Plotly has refilled them. */
  forget() {
    this.#buffers.clear();
  }

  /** Change how Plotly's objects draw: skip objects with opacity 0; let only clickable layers take part in
   * hover and clicks, so that a sphere never hides the points behind it; and set each object's depth effects.
   * @returns {boolean} whether the depth effects of an object have changed */
  prepare() {
    return Boolean(guarded("layers", () => this.#prepared()));
  }

  #prepared() {
    let otherwise = false;
    const traces = this.scene?.traces ?? {};
    const own = this.#view.layers.map((layer, l) => ({
      trace: traces[`layer-${l}`],
      look: lookOf(layer),
      picks: clickable(layer),
    }));
    // far labels must stay legible
    const counts = { trace: traces.crowds, look: { shape: SHAPES.count, still: true }, picks: false };
    for (const { trace, look, picks } of [...own, counts]) {
      for (const object of [trace?.scatterPlot, trace?.linePlot, trace?.textMarkers, trace?.mesh]) {
        if (!object) continue;
        // no projections onto the walls
        if (!object.axesProject?.some(Boolean)) object.projectHasAlpha = null;
        if (wanted("layers")) {
          object.isOpaque = () => object.opacity >= 1;
          object.isTransparent = () => object.opacity > 0 && object.opacity < 1;
        }
        const { draw, drawTransparent, drawPick, update } = Object.getPrototypeOf(object);
        if (!draw) throw new Error("an object that draws otherwise");
        otherwise ||= JSON.stringify(this.#looks.get(object)) !== JSON.stringify(look);
        this.#looks.set(object, look);
        const drawn = (/** @type {(camera: Plotly) => void} */ own) => (/** @type {Plotly} */ camera) => {
          Object.assign(this.#depth, look);
          // an object may have no program before it is first drawn
          this.#mend(object.useOrtho ? object.orthoShader : (object.shader ?? object.triShader));
          if (sharing.has(object)) byNumbers(object, () => own.call(object, camera));
          else own.call(object, camera);
        };
        if (object === trace.mesh)
          object.update = (/** @type {Plotly} */ given) => {
            parted(object);
            update.call(object, given);
          };
        object.draw = drawn(draw);
        object.drawTransparent = drawn(drawTransparent);
        object.drawPick = picks || !wanted("layers") ? drawn(drawPick) : () => {};
      }
    }
    return otherwise;
  }

  /** Write dashes as they are in motion; Plotly's own would jump when the figure settles.
   * @param {Frame} frame @returns {boolean} whether dashes were written */
  dash(frame) {
    const dashed = this.#view.layers.flatMap((layer, l) =>
      "pattern" in layer && layer.pattern.length ? [l] : [],
    );
    return dashed.length > 0 && this.#attempt(() => this.#writeLayers(frame, dashed));
  }

  /** Keep the camera responsive. On every update Plotly sets the camera's mode, and after a change of mode a
   * camera ignores input and drifts for half a second. So at the start its last change is dated back, and
   * later the mode is not set again. */
  #keepListening() {
    const scene = this.scene;
    const set = scene?.updateFx;
    if (!set || !scene.camera) throw new Error("no camera whose mode is set");
    const { eye, center } = this.#gd.layout.scene.camera;
    scene.camera.lookAt(xyz(eye), xyz(center), UP);
    scene.camera.view.flush(Infinity);
    for (const part of Object.values(scene.camera.view._active)) part?._time?.fill(0);
    scene.updateFx = (/** @type {string} */ dragmode, /** @type {string} */ hovermode) => {
      if (scene.camera.mode === dragmode) scene.fullSceneLayout.hovermode = hovermode;
      else set.call(scene, dragmode, hovermode);
    };
  }

  /** Write and draw a frame while things move. @param {Frame} frame @param {number[][]} ranges of the axes
   * @returns {boolean} whether this succeeded; false if Plotly is not as expected */
  paint(frame, ranges) {
    return this.#attempt(() => {
      const { glplot, traces, dataScale } = this.scene;
      this.#writeLayers(frame, frame.keys());
      ranges.forEach(([low, high], r) =>
        glplot.setBounds(r, { min: low * dataScale[r], max: high * dataScale[r] }),
      );
      // crowds disperse while points move
      if (traces.crowds?.textMarkers) traces.crowds.textMarkers.opacity = 0;
      redraw(this.scene.glplot, true);
    });
  }

  /** Run a part of the fast path; on an exception report it and leave the fast path. @param {() => void} act
   * @returns {boolean} whether it succeeded */
  #attempt(act) {
    if (!this.fast || !this.living) return false;
    this.fast = Boolean(
      guarded("buffers", () => {
        act();
        return true;
      }),
    );
    return this.fast;
  }

  /**
   * Write some layers of a frame into Plotly's buffers.
   * @param {Frame} frame @param {Iterable<number>} layers
   */
  #writeLayers(frame, layers) {
    for (const l of layers)
      this.#write(this.scene, this.scene.traces[`layer-${l}`], this.#view.layers[l], frame[l], l);
  }

  /**
   * Write one layer into Plotly's buffers.
   * @param {Plotly} scene @param {Plotly} trace @param {Mark} layer @param {Drawn} drawn @param {number} l
   */
  #write(scene, trace, layer, drawn, l) {
    let kept = this.#buffers.get(l);
    const solid = Boolean(trace.mesh);
    if (!kept)
      this.#buffers.set(l, (kept = { rgb: solid && layer.color ? [1, 1, 1] : rgb(this.#color(layer.role)) }));
    const object =
      trace.mesh ?? (layer.draws === "labels" ? trace.textMarkers : (trace.scatterPlot ?? trace.linePlot));
    if (!solid && kept.opacity !== drawn.opacity) {
      object.opacity = drawn.opacity;
      object.hasAlpha = drawn.opacity < 1;
    }
    if (layer.draws === "labels") return;
    if (kept.points !== drawn.points) {
      const { points } = drawn;
      const { dataScale } = scene;
      if (layer.draws === "points") writePoints(object, points, dataScale, kept, outside(this.#view));
      else if (layer.draws === "line") writeLine(object, points, dataScale, kept, layer.size, this.#view);
      else writeMesh(object, points, dataScale, kept);
    }
    if (solid && kept.opacity !== drawn.opacity) fadeMesh(object, drawn.opacity, kept, kept.rgb);
    if (solid && layer.color && drawn.values && kept.values !== drawn.values)
      shadeMesh(object, drawn.values, kept, /** @type {Color} */ (layer.color));
    if (layer.draws === "points" && drawn.values && kept.values !== drawn.values)
      this.#colorPoints(object, drawn.values, layer, kept, l);
    Object.assign(kept, { points: drawn.points, opacity: drawn.opacity, values: drawn.values });
  }

  /**
   * Write the colours of points into Plotly's buffers.
   * @param {Plotly} cloud @param {Float32Array} values @param {Mark} layer @param {Kept} kept @param {number}
   * l
   */
  #colorPoints(cloud, values, layer, kept, l) {
    if (!live(layer.color)) return;
    kept.palette ??= palette(resolve(this.#view.figure.data[l].marker.colorscale, this.#color));
    const each = cloud.vertexCount / values.length;
    kept.colors ??= new Float32Array(4 * cloud.vertexCount).fill(1);
    for (let i = 0, at = 0; i < values.length; i++) {
      const [r, g, b] = kept.palette[shade(values[i], /** @type {Color} */ (layer.color))];
      for (let v = 0; v < each; v++, at += 4) {
        kept.colors[at] = r;
        kept.colors[at + 1] = g;
        kept.colors[at + 2] = b;
      }
    }
    cloud.colorBuffer.update(kept.colors, 0);
  }

  /** The present camera. @returns {Camera} */
  camera() {
    const { eye, center } = this.scene?.getCamera?.() ?? this.#gd.layout.scene.camera;
    return { eye: xyz(eye), center: xyz(center) };
  }

  /** Turn the camera at once. @param {Camera} camera @returns {boolean} whether it succeeded */
  turn({ eye, center }) {
    return this.#attempt(() => {
      this.scene.camera.lookAt(eye, center, UP);
      this.redraw();
    });
  }

  /** Free the WebGL context after the figure is purged. @param {() => void} purge */
  close(purge) {
    const gl = this.scene?.glplot?.gl;
    purge();
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

/** A layer's depth effects; only the followed point never fades. @param {Mark} layer */
const lookOf = (layer) => ({
  shape: layer.draws === "points" ? SHAPES[/** @type {keyof typeof SHAPES} */ (layer.glyph)] : SHAPES.label,
  still: onlyOf(layer) === "followed",
});
