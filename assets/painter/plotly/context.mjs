// @ts-check
/** The WebGL context of a figure, changed as soon as there is one; and drawing now.
 * @typedef {import("../../globals.mjs").Plotly} Plotly */

import { report, wanted } from "./patches.mjs";

/** Let Plotly build a figure, and each WebGL context be changed as soon as there is one.
 * @param {() => Promise<unknown>} build @param {(gl: WebGLRenderingContext) => void} change */
export async function within(build, change) {
  const { prototype } = HTMLCanvasElement;
  const { getContext } = prototype;
  const known = /** @type {WeakSet<WebGLRenderingContext>} */ (new WeakSet());
  prototype.getContext = /** @type {typeof getContext} */ (
    function (/** @type {Parameters<typeof getContext>} */ ...asked) {
      // @ts-ignore: `this` is the canvas
      const context = /** @type {Plotly} */ (getContext.apply(this, asked));
      if (context && /webgl/.test(asked[0]) && !known.has(context)) {
        known.add(context);
        change(context);
      }
      return context;
    }
  );
  try {
    await build();
  } finally {
    prototype.getContext = getContext;
  }
}

/** Draw now, without what Plotly does at each drawing for axes and ticks (ours are hidden), hover (hidden
 * while things move) and the size of its canvas (which is ours to tell), which would make the browser lay the
 * page out in every frame, and without its question whether a buffer that it has kept is still one, for whose
 * answer the page would wait until all that was drawn before is done. @param {Plotly} glplot */
export function redraw(glplot) {
  const { onrender, autoResize, gl, axes } = glplot;
  const known = gl && axes && "autoResize" in glplot;
  if (!known) report("redraw", "a drawing has no context, axes or size of its own");
  if (!known || !wanted("redraw")) return glplot.redraw();
  Object.assign(glplot, { onrender: null, autoResize: false });
  axes.enable = false;
  gl.isBuffer = () => true;
  glplot.redraw();
  delete gl.isBuffer;
  axes.enable = true;
  Object.assign(glplot, { onrender, autoResize });
}
