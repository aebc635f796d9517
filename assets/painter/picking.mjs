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
const STILL_PX = 4; // a press during which the pointer moves farther is not a click

/** Watch clicks on an element: the main button or a finger is pressed and released, and the pointer hardly
 * moves in between. @param {HTMLElement} element @param {AbortSignal} signal ends the watch
 * @param {(press: PointerEvent, release: PointerEvent) => void} clicked called at the end of a click */
export function watchPresses(element, signal, clicked) {
  const options = { signal, capture: true };
  /** @type {PointerEvent | null} */ let press = null;
  const move = (/** @type {PointerEvent} */ { clientX, clientY }) => {
    if (press && Math.hypot(clientX - press.clientX, clientY - press.clientY) > STILL_PX) press = null;
  };
  const down = (/** @type {PointerEvent} */ event) => (press = event.button ? null : event);
  const up = (/** @type {PointerEvent} */ event) => {
    move(event);
    if (press) clicked(press, event);
    press = null;
  };
  element.addEventListener("pointerdown", down, options);
  addEventListener("pointermove", move, options);
  addEventListener("pointerup", up, options);
  addEventListener("pointercancel", () => (press = null), options);
}

/** Call the panel's `callbacks.picked` with the mark and the index of the point when a clickable point is
 * clicked. @param {Panel} panel */
export function watchClicks(panel) {
  const { gd } = panel;
  watchPresses(gd, panel.life.signal, (press, release) => {
    // not of a handle, or of a point that was dragged
    if (press.defaultPrevented || /** @type {Element} */ (press.target).closest(".handle")) return;
    const { left, top } = gd.getBoundingClientRect();
    const clicked = clickableAt(panel, release.clientX - left, release.clientY - top);
    if (clicked) panel.callbacks.picked(clicked.layer, clicked.index);
  });
}

/** The clickable point nearest to the pixel (x, y), counted from the figure's top left: its layer, its index,
 * and its distance `far` in pixels. Of several that are about equally near, one of the topmost layer is
 * taken. Null if no clickable point is within PICK_RADIUS_PX. @param {Panel} panel @param {number} x @param
 * {number} y */
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
