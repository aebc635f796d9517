// @ts-check
/**
 * Detect clicks on points of a 2D view, by the position of the pointer. Plotly's own click events are not
 * used here, because they are lost if Plotly has just redrawn the figure under a pointer that does not move.
 *
 * @typedef {import("./painter.mjs").Panel} Panel
 * @typedef {import("../engine/recipe.d.ts").Mark} Mark
 */

import { clickable } from "../engine/hands.mjs";

const PICK_RADIUS_PX = 20; // the distance at which Plotly shows hover texts, too
const SAME_PLACE_PX = 4; // points whose distances to the pointer differ by less count as equally near
export const STILL_PX = 4; // a press during which the pointer moves farther is not a click

/** Call the panel's `callbacks.picked` with the mark and the index of the point when a clickable point is
 * clicked. @param {Panel} panel
 * @param {AbortSignal} signal aborts when the panel is closed */
export function watchClicks(panel, signal) {
  const { gd } = panel;
  const options = { signal, capture: true };
  /** @type {PointerEvent | null} */ let start = null;
  const press = (/** @type {PointerEvent} */ event) => {
    start = event.button || /** @type {Element} */ (event.target).closest(".handle") ? null : event;
  };
  const move = (/** @type {PointerEvent} */ { clientX, clientY }) => {
    if (start && Math.hypot(clientX - start.clientX, clientY - start.clientY) > STILL_PX) start = null;
  };
  const release = (/** @type {PointerEvent} */ event) => {
    move(event);
    const began = start;
    start = null;
    if (!began || began.defaultPrevented) return; // a point is being dragged
    const { left, top } = gd.getBoundingClientRect();
    const clicked = clickableAt(panel, event.clientX - left, event.clientY - top);
    if (clicked) panel.callbacks.picked(clicked.layer, clicked.index);
  };
  gd.addEventListener("pointerdown", press, options);
  addEventListener("pointermove", move, options);
  addEventListener("pointerup", release, options);
  addEventListener("pointercancel", () => (start = null), options);
}

/** The clickable point nearest to the pixel (x, y), counted from the figure's top left: its layer, its index,
 * and its distance `far` in pixels. If several are about equally near, it is one of the topmost layer. Null
 * if no clickable point is within PICK_RADIUS_PX. @param {Panel} panel @param {number} x @param {number} y */
function clickableAt(panel, x, y) {
  /** @type {{layer: Mark, index: number, far: number} | null} */ let nearest = null;
  for (const [l, layer] of [...panel.view.layers.entries()].reverse()) {
    const pixels = clickable(layer) ? panel.pixels(panel.frame[l].points) : [];
    let least = nearest ? nearest.far - SAME_PLACE_PX : PICK_RADIUS_PX;
    for (let index = 0; 2 * index < pixels.length; index++) {
      const far = Math.hypot(pixels[2 * index] - x, pixels[2 * index + 1] - y);
      if (!(far < least)) continue;
      nearest = { layer, index, far };
      least = far;
    }
  }
  return nearest;
}
