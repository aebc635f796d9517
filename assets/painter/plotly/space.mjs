// @ts-check
/**
 * The part of a 3D figure that uses Plotly's private objects. Its fast path draws a frame by writing
 * positions into the buffers that Plotly has built, and never touches the camera. If that fails, the failure
 * is reported, and from then on the painter draws by Plotly's public functions.
 *
 * @typedef {import("../painter.mjs").Drawn} Drawn
 * @typedef {import("../painter.mjs").Frame} Frame
 * @typedef {import("../painter.mjs").Camera} Camera
 * @typedef {import("../../engine/recipe.d.ts").Mark} Mark
 * @typedef {import("../../engine/recipe.d.ts").Color} Color
 * @typedef {import("../../engine/engine.mjs").Trace} Trace
 * @typedef {import("../../engine/engine.mjs").View} View
 * @typedef {import("../../globals.mjs").Plotly} Plotly the library, or one of its private objects, such as a
 *   scene or a buffer
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
  /** @type {Map<number, Kept>} what is kept of each layer from frame to frame */ #buffers = new Map();
  /** @type {(shader: Plotly) => void} makes a shader skip unchanged uniforms */ #mend = () => {};
  /** @type {import("./pulse.mjs").Look | null} Plotly's render loop, if caught */ #look = null;

  /** @param {Plotly} gd Plotly's graph div @param {View} view @param {(name: string) => string} color the
   * colour of a role */
  constructor(gd, view, color) {
    this.#gd = gd;
    this.#view = view;
    this.#color = color;
    this.fast = wanted("buffers");
  }

  /** Plotly's private scene object; undefined before the figure is built. @returns {Plotly} */
  get scene() {
    return this.#gd._fullLayout?.scene?._scene;
  }

  /** Whether the figure has a WebGL context. */
  get living() {
    return Boolean(this.scene?.glplot);
  }

  /** The WebGL canvas. @returns {HTMLCanvasElement | undefined} */
  get canvas() {
    return this.scene?.glplot?.canvas;
  }

  /** Show another 3D view from the next frame on. @param {View} view */
  show(view) {
    this.#view = view;
  }

  /** Set the background colour, into which far points fade. @param {string} color */
  paper(color) {
    this.#depth.paper = rgb(color);
  }

  /** Build the figure with all patches to its WebGL context and its render loop. On the fast path nothing is
   * drawn yet; `open` does that. Throws NoWebGL if there is no WebGL context. @param {() => Promise<unknown>}
   * draw calls `Plotly.newPlot` */
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

  /** Draw the figure for the first time, after `build`. @param {Frame} frame @param {AbortSignal} signal
   * aborts when the figure is closed */
  open(frame, signal) {
    if (wanted("camera")) guarded("camera", () => this.#keepListening());
    // Plotly's pick buffer has not been drawn yet either
    this.#attempt(() => this.scene.glplot.update({}));
    this.refresh(frame);
    if (this.#look) pulse(this.#gd, this.#look, signal);
  }

  /** Draw the scene at once, as it is in Plotly's buffers. */
  redraw() {
    redraw(this.scene.glplot);
  }

  /** Forget what is in Plotly's buffers, because Plotly refills them. */
  forget() {
    this.#buffers.clear();
  }

  /** Change how Plotly's objects draw, after Plotly has built or updated them. Objects with opacity 0 are
   * skipped; only clickable layers are drawn into the pick buffer, so that a sphere never hides the points
   * behind it from the pointer; and each object gets its depth effects. Throws if Plotly is not as
   * expected. */
  #prepare() {
    const traces = this.scene?.traces ?? {};
    const own = this.#view.layers.map((layer, l) => ({
      trace: traces[`layer-${l}`],
      look: lookOf(layer),
      picks: clickable(layer),
    }));
    // counts never fade: far labels must stay legible, too
    const counts = { trace: traces.crowds, look: { shape: SHAPES.count, still: true }, picks: false };
    for (const { trace, look, picks } of [...own, counts]) {
      for (const object of [trace?.scatterPlot, trace?.linePlot, trace?.textMarkers, trace?.mesh]) {
        if (!object) continue;
        // no projections onto the walls: null equals neither true nor false, so Plotly skips drawing them
        if (!object.axesProject?.some(Boolean)) object.projectHasAlpha = null;
        if (wanted("layers")) {
          object.isOpaque = () => object.opacity >= 1;
          object.isTransparent = () => object.opacity > 0 && object.opacity < 1;
        }
        const { draw, drawTransparent, drawPick, update } = Object.getPrototypeOf(object);
        if (!draw) throw new Error("an object that draws otherwise");
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
  }

  /** Draw a frame as this class draws it, after Plotly has drawn it: its objects with our changes, and its
   * dashed lines as the fast path writes them. Plotly places dashes differently, so that they would jump when
   * the figure settles. @param {Frame} frame */
  refresh(frame) {
    guarded("layers", () => this.#prepare());
    const dashed = this.#view.layers.flatMap((layer, l) =>
      "pattern" in layer && layer.pattern.length ? [l] : [],
    );
    this.#attempt(() => this.#writeLayers(frame, dashed));
    this.redraw();
  }

  /** Keep the camera responsive. Plotly sets the camera's mode on every update, and after that the camera
   * ignores input and drifts for half a second. So the change of mode at the start is dated back, and later
   * the mode is set only if it is another one. */
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

  /** Draw a frame by the fast path. @param {Frame} frame @param {number[][]} ranges of the axes
   * @returns {boolean} whether this succeeded; false if Plotly is not as expected */
  paint(frame, ranges) {
    return this.#attempt(() => {
      const { glplot, traces, dataScale } = this.scene;
      this.#writeLayers(frame, frame.keys());
      ranges.forEach(([low, high], r) =>
        glplot.setBounds(r, { min: low * dataScale[r], max: high * dataScale[r] }),
      );
      // while points move, the counts of coinciding points are wrong: hide them
      if (traces.crowds?.textMarkers) traces.crowds.textMarkers.opacity = 0;
      redraw(this.scene.glplot, true);
    });
  }

  /** Run a part of the fast path; if it throws, report that and never use the fast path again. @param {() =>
   * void} act @returns {boolean} whether it succeeded; false also if the fast path is not used */
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
   * Write some layers of a frame into Plotly's buffers, without drawing them.
   * @param {Frame} frame @param {Iterable<number>} layers the indices of the layers
   */
  #writeLayers(frame, layers) {
    for (const l of layers)
      this.#write(this.scene, this.scene.traces[`layer-${l}`], this.#view.layers[l], frame[l], l);
  }

  /**
   * Write the parts of one layer that have changed since the last frame into Plotly's buffers.
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
   * Write the colours of points into Plotly's buffers, if they depend on parameters.
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

  /** The camera as Plotly has it now. @returns {Camera} */
  camera() {
    const { eye, center } = this.scene?.getCamera?.() ?? this.#gd.layout.scene.camera;
    return { eye: xyz(eye), center: xyz(center) };
  }

  /** Turn the camera and draw at once. @param {Camera} camera @returns {boolean} whether it succeeded */
  turn({ eye, center }) {
    return this.#attempt(() => {
      this.scene.camera.lookAt(eye, center, UP);
      this.redraw();
    });
  }

  /** Purge the figure, and free its WebGL context at once, since browsers allow only a few. @param {() =>
   * void} purge calls `Plotly.purge` */
  close(purge) {
    const gl = this.scene?.glplot?.gl;
    purge();
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

/** The depth effects of a layer (`Look` in depth.mjs); a mark of the followed (selected) point never fades.
 * @param {Mark} layer */
const lookOf = (layer) => ({
  shape: layer.draws === "points" ? SHAPES[/** @type {keyof typeof SHAPES} */ (layer.glyph)] : SHAPES.label,
  still: onlyOf(layer) === "followed",
});
