// @ts-check
/**
 * Create handles: elements over the figure by which readers drag the first point of a mark. The mark's `hand`
 * (its action) says which parameters a drag sets. `Turn` sets the parameter that is the point's angle around
 * the origin, in degrees. `Drag` sets the parameters that are the point's coordinates; in a 3D view the point
 * stays in the plane that faces the camera. From the keyboard only parameters that have sliders can be set.
 * Points that are dragged without a handle are in dragging.mjs.
 */

import { parameterOf } from "../engine/engine.mjs";
import { h } from "../dom.mjs";
import { pointsOf } from "../engine/shown.mjs";
import { dragging, put } from "./dragging.mjs";
/** @import { Hand, Mark } from "../engine/recipe.d.ts" */
/** @import { Panel } from "../painter/painter.mjs" */
/** @import { Player } from "./player.mjs" */

/**
 * Add all handles to the player's panels, and the listeners of dragging.mjs for marks without handles. @param
 * {Player} player @returns {() => void} a function to call in each frame: it moves every handle to its point
 */
export function handles(player) {
  const places = player.panels.map((panel) => {
    const layers = panel.view.layers.filter((layer) => names(layer.hand).length);
    const life = new AbortController();
    listening.set(panel, life);
    const carried = panel.view.layers.filter(({ hand }) => ["carry", "relocate"].includes(hand?.kind ?? ""));
    const shows = [
      ...layers.map((layer) => handle(player, panel, layer, life.signal)),
      ...(carried.length ? [dragging(player, panel, carried, life.signal)] : []),
    ];
    const place = () => {
      for (const show of shows) show();
    };
    panel.onPlot = place;
    return place;
  });
  const show = () => {
    for (const place of places) place();
  };
  show();
  return show;
}

/** For each panel, the controller that removes the panel's listeners when the panel gets another recipe.
 * @type {WeakMap<Panel, AbortController>} */
const listening = new WeakMap();

/** Remove the handles, and the listeners of dragging.mjs, before the panels get another recipe.
 * @param {Panel[]} panels */
export function release(panels) {
  for (const panel of panels) {
    panel.onPlot = () => {};
    listening.get(panel)?.abort();
    listening.delete(panel);
    for (const left of panel.gd.querySelectorAll(".handle")) left.remove();
  }
}

/**
 * Add the handle of one layer of a panel. @param {Player} player @param {Panel} panel @param {Mark} layer
 * @param {AbortSignal} signal aborts when the panel gets another recipe; this ends the handle's listeners
 * @returns {() => void} a function that moves the handle to its point
 */
function handle(player, panel, layer, signal) {
  const element = h("div", {
    className: "handle",
    title: [layer.title, layer.hint].filter(Boolean).join(": ") || "drag",
    ariaHidden: "true",
    style: `color: var(--${layer.role})`,
  });
  /** @type {Float32Array | null} the point where the drag began; in 3D a drag stays in its plane; null if a
   * second finger has ended the drag: two fingers zoom the figure */ let start = null;
  const second = (/** @type {PointerEvent} */ { isPrimary }) => {
    if (!isPrimary) start = null;
  };
  panel.gd.addEventListener("pointerdown", second, { signal, capture: true });
  element.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary || event.button) return;
    event.preventDefault(); // prevents text selection
    element.setPointerCapture(event.pointerId);
    start = pointsOf(layer, player.moment).slice(0, panel.view.dims);
  });
  element.addEventListener("pointermove", (event) => {
    if (!start || !element.hasPointerCapture(event.pointerId)) return;
    const box = panel.gd.getBoundingClientRect();
    let [left, top] = [event.clientX - box.left, event.clientY - box.top];
    if (panel.is3d) [left, top] = [within(left, box.width), within(top, box.height)]; // its axes stay
    const at = panel.point(left, top, start);
    const angle = (Math.atan2(at[1], at[0]) * 180) / Math.PI;
    names(layer.hand).forEach((name, i) => {
      const turns = layer.hand?.kind === "turn";
      put(player, name, turns ? turned(angle, parameterOf(player.recipe, name).min) : at[i]);
    });
  });
  panel.gd.append(element);
  return () => {
    if (!panel.opened) return;
    const [x, y, z] = pointsOf(layer, player.moment);
    const [left, top] = panel.pixel(x, y, z);
    element.style.transform = `translate(${left}px, ${top}px)`;
  };
}

/** The names of the parameters that a drag of a handle sets; [] if a mark has no handle. @param {Hand | null}
 * hand */
const names = (hand) =>
  hand?.kind === "drag"
    ? [hand.x, hand.y, hand.z].filter(Boolean)
    : hand?.kind === "turn"
      ? [hand.angle]
      : [];

/** Clamp a position to the range from 0 to `size`. @param {number} at @param {number} size */
const within = (at, size) => Math.max(0, Math.min(at, size));

/** Add full turns to an angle in degrees, or subtract them, so that it is at least `least` and less than
 * `least` + 360. @param {number} angle @param {number} least */
const turned = (angle, least) => angle + 360 * Math.ceil((least - angle) / 360);
