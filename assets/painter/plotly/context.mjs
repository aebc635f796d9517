// @ts-check
/** Intercept a figure's WebGL context when it is created, to patch it; and draw at once.
 * @typedef {import("../../globals.mjs").Plotly} Plotly */

import { report, wanted } from "./patches.mjs";

/** Let Plotly build a figure, and call `change` with each WebGL context that it creates.
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

/** Draw at once, without Plotly's work for axes and ticks (ours are hidden), hover (hidden while things move)
 * and canvas size (which we set): that would force a page layout every frame. Also without its check that
 * cached buffers are alive, which would wait until all earlier drawing is done. @param {Plotly} glplot */
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
