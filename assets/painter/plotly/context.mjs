// @ts-check
/** Get a figure's WebGL context as soon as Plotly creates it, so that it can be patched; and draw a scene
 * without waiting for Plotly's render loop.
 * @typedef {import("../../globals.mjs").Plotly} Plotly */

import { report, wanted } from "./patches.mjs";

/** Run the function `build`, by which Plotly builds a figure, and return the promise that `build` returns.
 * Calls `change` with each new WebGL context that Plotly creates meanwhile. For this, `getContext` is patched
 * until `build` returns the promise; Plotly has created the context by then. So figures that are built at the
 * same time do not get one another's contexts. @param {() => Promise<unknown>} build
 * @param {(gl: WebGLRenderingContext) => void} change */
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
    return build();
  } finally {
    prototype.getContext = getContext;
  }
}

/** Draw a scene at once, without four parts of Plotly's own redraw: axes and ticks, which our figures hide;
 * hover labels, which are hidden while marks move; the adjustment of the canvas size, which we set ourselves;
 * and the check that cached buffers are alive. The first three would force a page layout in every frame; the
 * check would wait until all earlier drawing is done. The depth buffer is made writable first. Transparent
 * objects leave it read-only, and then Plotly could not clear it. Browsers on telephones do not clear it
 * (`preserveDrawingBuffer`), so points of the previous frame would hide points of this one.
 * @param {Plotly} glplot Plotly's drawing object of the scene @param {boolean} [moving] whether another frame
 * follows soon: then the pick buffer is not drawn (`unpicked`) */
export function redraw(glplot, moving = false) {
  const { onrender, autoResize, gl, axes, objects } = glplot;
  const known = gl && axes && objects && "autoResize" in glplot;
  if (!known) report("redraw", "a drawing has no context, axes, objects or size of its own");
  gl?.depthMask(true);
  if (!known || !wanted("redraw")) return glplot.redraw();
  Object.assign(glplot, { onrender: null, autoResize: false });
  axes.enable = false;
  gl.isBuffer = () => true;
  try {
    if (moving) unpicked(objects, () => glplot.redraw());
    else glplot.redraw();
  } finally {
    delete gl.isBuffer;
    axes.enable = true;
    Object.assign(glplot, { onrender, autoResize });
  }
}

/** Run `draw` without drawing Plotly's pick buffer, the hidden image from which Plotly finds the point under
 * the pointer. After a change of the axes Plotly would draw this image again and read it back a moment later,
 * which would block the page. @param {Plotly[]} objects the scene's objects @param {() => void} draw */
function unpicked(objects, draw) {
  const { setTimeout } = window;
  const drawPicks = objects.map(({ drawPick }) => drawPick);
  for (const object of objects) object.drawPick = null;
  window.setTimeout = /** @type {typeof setTimeout} */ (() => 0);
  try {
    draw();
  } finally {
    window.setTimeout = setTimeout;
    objects.forEach((object, k) => Object.assign(object, { drawPick: drawPicks[k] }));
  }
}
