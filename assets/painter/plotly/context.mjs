// @ts-check
/** Intercept a figure's WebGL context when it is created, to patch it; and draw at once.
 * @typedef {import("../../globals.mjs").Plotly} Plotly */

import { report, wanted } from "./patches.mjs";

/** Let Plotly build a figure, and call `change` with each WebGL context that it creates. It does so before
 * `build` returns, so that figures which are built at the same time do not see one another's contexts.
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
    return build();
  } finally {
    prototype.getContext = getContext;
  }
}

/** Draw at once, without Plotly's work for axes and ticks (ours are hidden), hover (hidden while things move)
 * and canvas size (which we set): that would force a page layout every frame. Also without its check that
 * cached buffers are alive, which would wait until all earlier drawing is done. @param {Plotly} glplot
 * @param {boolean} [moving] whether another frame comes soon; until then nobody picks points */
export function redraw(glplot, moving = false) {
  const { onrender, autoResize, gl, axes, objects } = glplot;
  const known = gl && axes && objects && "autoResize" in glplot;
  if (!known) report("redraw", "a drawing has no context, axes, objects or size of its own");
  if (!known || !wanted("redraw")) return glplot.redraw();
  Object.assign(glplot, { onrender: null, autoResize: false });
  axes.enable = false;
  gl.isBuffer = () => true;
  if (moving) unpicked(objects, () => glplot.redraw());
  else glplot.redraw();
  delete gl.isBuffer;
  axes.enable = true;
  Object.assign(glplot, { onrender, autoResize });
}

/** Draw without the picture of what the pointer can pick. When axes have changed, Plotly draws that again and
 * soon after reads it back, for which the page waits. @param {Plotly[]} objects @param {() => void} draw */
function unpicked(objects, draw) {
  const { setTimeout } = window;
  const own = objects.map(({ drawPick }) => drawPick);
  for (const object of objects) object.drawPick = null;
  window.setTimeout = /** @type {typeof setTimeout} */ (() => 0);
  try {
    draw();
  } finally {
    window.setTimeout = setTimeout;
    objects.forEach((object, k) => Object.assign(object, { drawPick: own[k] }));
  }
}
