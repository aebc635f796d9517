// @ts-check
/**
 * Handles: points of a 2D view that the hand drags. Where the pointer is sets the parameters that the mark's `Turn` or `Drag`
 * names: its angle around the origin in degrees, or its x and y. Their sliders are the way of the keyboard.
 */

import { h } from "../player/controls.mjs";
import { pointsOf } from "../engine/marks.mjs";

/** @param {any} player @returns {() => void} puts every handle where its point is now */
export function handles(player) {
  const places = player.panels.map((/** @type {any} */ panel) => {
    const layers = panel.view.layers.filter((/** @type {any} */ layer) => names(layer.hand).length);
    const shows = layers.map((/** @type {any} */ layer) => handle(player, panel, layer));
    return (panel.onPlot = () => { for (const show of shows) show(); });
  });
  const show = () => { for (const place of places) place(); };
  show();
  return show;
}

/** Take the handles off, before the panels get another recipe. @param {any[]} panels */
export function release(panels) {
  for (const panel of panels) {
    panel.onPlot = () => {};
    for (const left of panel.gd.querySelectorAll(".handle")) left.remove();
  }
}

/** @param {any} player @param {any} panel @param {any} layer @returns {() => void} */
function handle(player, panel, layer) {
  const element = h("div", { className: "handle", title: layer.title || "drag", ariaHidden: "true", style: `color: var(--${layer.role})` });
  element.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    event.preventDefault(); // no selection of text
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (!element.hasPointerCapture(event.pointerId)) return;
    const box = panel.gd.getBoundingClientRect(), at = panel.point(event.clientX - box.left, event.clientY - box.top);
    names(layer.hand).forEach((name, i) => {
      const parameter = player.recipe.parameters.find((/** @type {any} */ p) => p.name === name);
      player.set(name, fitting(layer.hand.kind === "turn" ? turned((Math.atan2(at[1], at[0]) * 180) / Math.PI, parameter.min) : at[i], parameter));
    });
  });
  panel.gd.append(element);
  return () => {
    const [x, y] = pointsOf(layer, player.moment);
    const [left, top] = panel.pixel(x, y);
    element.style.transform = `translate(${left}px, ${top}px)`;
  };
}

/** The parameters that a drag sets. @param {import("../engine/marks.mjs").Hand | null} hand */
const names = (hand) => (hand?.kind === "drag" ? [hand.x, hand.y] : hand?.kind === "turn" ? [hand.angle] : []);

/** The same angle, from `least` on. @param {number} angle @param {number} least */
const turned = (angle, least) => angle + 360 * Math.ceil((least - angle) / 360);

/** The nearest value that a slider has. @param {number} value @param {{min: number, max: number, step: number}} parameter */
function fitting(value, { min, max, step }) {
  const near = min + step * Math.round((Math.max(min, Math.min(max, value)) - min) / step);
  return Number(Math.min(max, near).toPrecision(12));
}
