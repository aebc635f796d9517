// @ts-check
/**
 * What is under the pointer, asked only while there is one. After each change of the camera Plotly draws every point a second
 * time, in colours that number them, and reads the picture back, for which the page waits; that is lost on a figure over which
 * nobody hovers. Here it is made up for when the pointer comes.
 */

/** @param {WebGLRenderingContext} gl */
export function picking(gl) {
  const read = /** @type {WebGLRenderingContext} */ (Object.getPrototypeOf(gl)).readPixels;
  /** @typedef {Parameters<typeof read>} Asked @type {{from: WebGLFramebuffer, asked: Asked} | null} */ let missed = null;
  const state = {
    hovered: false,
    /** The pointer has come: what it can point at, at once. @param {() => void} draw again, with what is to be picked */
    come(draw) {
      state.hovered = true;
      if (!missed) return;
      const { from, asked } = missed;
      missed = null;
      draw();
      gl.bindFramebuffer(gl.FRAMEBUFFER, from);
      read.apply(gl, asked);
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    },
    leave() { state.hovered = false; },
  };
  gl.readPixels = /** @type {typeof read} */ ((/** @type {Asked} */ ...asked) => {
    const from = gl.getParameter(gl.FRAMEBUFFER_BINDING); // null: the picture itself, for a file
    if (from && !state.hovered) missed = { from, asked };
    else read.apply(gl, asked);
  });
  return state;
}
