// @ts-check
/** The WebGL context of a figure, changed as soon as there is one; and drawing now. @typedef {import("../../globals.mjs").Plotly} Plotly */

import { wanted } from "./patches.mjs";
import { lazily } from "./shaders.mjs";

/** Let Plotly build a figure in WebGL without drawing it meanwhile, and compile only what it will draw with.
 * @param {() => Promise<unknown>} build @param {(gl: WebGLRenderingContext) => void} own what else the context is made to do
 * @returns {Promise<{gl: WebGLRenderingContext, mend: (shader: Plotly) => void}>} its context */
export async function unseen(build, own) {
  /** @type {Plotly} */ let gl = null, /** @type {(shader: Plotly) => void} */ mend = () => {};
  await within(build, (context) => {
    gl = context;
    const quick = wanted("shaders") ? lazily(gl) : mend;
    if (wanted("uniforms")) mend = quick;
    own(gl);
    gl.drawArrays = gl.drawElements = () => {};
  });
  delete gl?.drawArrays;
  delete gl?.drawElements;
  return { gl, mend };
}

/** Let Plotly build a figure, and each WebGL context be changed as soon as there is one.
 * @param {() => Promise<unknown>} build @param {(gl: WebGLRenderingContext) => void} change */
export async function within(build, change) {
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
export function redraw(glplot) {
  if (!wanted("redraw")) return glplot.redraw();
  const { onrender, autoResize, gl, axes } = glplot;
  Object.assign(glplot, { onrender: null, autoResize: false });
  axes.enable = false;
  gl.isBuffer = () => true;
  glplot.redraw();
  delete gl.isBuffer;
  axes.enable = true;
  Object.assign(glplot, { onrender, autoResize });
}

const WIDE = 8192, LINE = 256; // pixels: of the canvas on which Plotly draws its glyphs, and more than the height of their line

/** Plotly reads its glyphs back from a canvas, all of which it clears for each: kept in memory, not on a graphics card, from which that
 * takes long, and as high as their line, not 1024 pixels.
 * @returns {() => void} the end of it */
export function readBack() {
  if (!wanted("glyphs")) return () => {};
  const { prototype } = HTMLCanvasElement, { getContext } = prototype;
  prototype.getContext = /** @type {typeof getContext} */ (/** @this {HTMLCanvasElement} @param {"2d"} kind @param {object} options */ function (kind, options) {
    if (this.width === WIDE) this.height = LINE;
    return getContext.call(this, kind, kind === "2d" ? { willReadFrequently: true, ...options } : options);
  });
  return () => { prototype.getContext = getContext; };
}
