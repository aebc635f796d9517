// @ts-check
/**
 * Points of a mark that can be dragged on the figure itself: by `Carry`, which sets the parameters of the
 * point, in 2D views; and by `Relocate`, which puts a point on a circle or a sphere at the clock's time.
 *
 * @typedef {import("../painter/painter.mjs").Panel} Panel
 * @typedef {import("./player.mjs").Player} Player
 * @typedef {import("../engine/recipe.d.ts").Mark} Mark
 * @typedef {import("../engine/recipe.d.ts").Relocate} Relocate
 * @typedef {{move: (at: number[]) => void, follow: () => void}} Held a point that is being dragged. move:
 *   to a place; follow: the clock
 */

import { clockOf, parameterOf } from "../engine/engine.mjs";
import { eyeOf, flat, onSphere } from "../engine/perspective.mjs";
import { pointsOf } from "../engine/shown.mjs";

const PICK_RADIUS_PX = 14; // pixels around a point within which it can be picked up

/** Events with which Plotly turns a space. Of a pressed pointer, browsers send `mouseout` and `mouseleave`
 * too, as soon as it is captured. */
const MOUSE_AND_TOUCH = ["down", "move", "out", "leave", "over", "enter"]
  .map((what) => `mouse${what}`)
  .concat("touchstart", "touchmove");

/** Let the pointer drag points of some marks of a panel: the nearest one is followed and moved.
 * @param {Player} player @param {Panel} panel @param {Mark[]} layers @param {AbortSignal} signal aborts when
 * the panel gets another recipe @returns {() => void} a function to call in each frame */
export function dragging(player, panel, layers, signal) {
  const { gd } = panel;
  const options = { signal, capture: true };
  /** @type {Held | null} */ let held = null;
  let own = false; // whether the last press was on a point; a browser may report moves of it after its end
  let layer = layers[0];
  const place = (/** @type {PointerEvent} */ event) => {
    const box = gd.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const nearest = (/** @type {PointerEvent} */ event) =>
    layers
      .map((each) => ({ layer: each, ...near(player, panel, each, place(event)) }))
      .reduce((a, b) => (b.far < a.far ? b : a));
  const keep = (/** @type {Event} */ event) => {
    if (!held && !(own && event instanceof MouseEvent && event.buttons)) return;
    event.stopPropagation(); // Plotly would turn the space
    if (event.cancelable) event.preventDefault(); // a finger would scroll the page
  };
  gd.addEventListener(
    "pointerdown",
    (/** @type {PointerEvent} */ event) => {
      if (/** @type {Element} */ (event.target).closest(".handle")) return;
      const found = nearest(event);
      const { point } = found;
      own = point >= 0;
      if (!own) return;
      layer = found.layer;
      held = hold(player, layer, point);
      keep(event);
      gd.setPointerCapture(event.pointerId);
      player.follow(point);
    },
    options,
  );
  gd.addEventListener(
    "pointermove",
    (/** @type {PointerEvent} */ event) => {
      gd.classList.toggle("carries", held !== null || nearest(event).point >= 0);
      held?.move(under(panel, layer, place(event)));
    },
    options,
  );
  for (const other of MOUSE_AND_TOUCH) gd.addEventListener(other, keep, { ...options, passive: false });
  for (const end of ["pointerup", "pointercancel"]) gd.addEventListener(end, () => (held = null), options);
  return () => held?.follow();
}

/** The centre of what a mark shows: the offsets of its rows. @param {Mark} layer */
const centre = ({ rows }) => rows.map(({ offset }) => offset);

/** The index of the point that is nearest to a pixel, on the near side of a sphere, and how far it is; −1 if
 * none is near. @param {Player} player @param {Panel} panel @param {Mark} layer @param {number[]} pixel */
function near(player, panel, layer, [x, y]) {
  const points = pointsOf(layer, player.moment);
  const k = layer.rows.length;
  const { gd, ranges } = panel;
  const camera = panel.is3d ? panel.camera() : null;
  const pixels = camera && flat(points, ranges, camera, gd.clientWidth, gd.clientHeight);
  const eye = camera && eyeOf(ranges, camera);
  const middle = centre(layer);
  let point = -1;
  let least = PICK_RADIUS_PX;
  for (let i = 0; i < points.length / k; i++) {
    const at = points.subarray(k * i, k * i + k);
    const [left, top] = pixels ? pixels.subarray(2 * i, 2 * i + 2) : panel.pixel(at[0], at[1]);
    const far = Math.hypot(left - x, top - y);
    if (far >= least || (eye && at.reduce((sum, a, r) => sum + (a - middle[r]) * (eye[r] - a), 0) < 0))
      continue;
    point = i;
    least = far;
  }
  return { point, far: least };
}

/** The place at a pixel, relative to the mark's centre; in 3D on the sphere of radius 1.
 * @param {Panel} panel @param {Mark} layer @param {number[]} pixel */
function under(panel, layer, [left, top]) {
  const { gd, ranges } = panel;
  if (panel.is3d)
    return onSphere([left, top], centre(layer), ranges, panel.camera(), gd.clientWidth, gd.clientHeight);
  const at = panel.point(left, top);
  return centre(layer).map((c, r) => at[r] - c);
}

/**
 * Start to drag a point of a mark.
 * @param {Player} player @param {Mark} layer @param {number} point @returns {Held}
 */
function hold(player, { hand }, point) {
  if (hand?.kind === "relocate") return relocated(player, hand, point);
  const names = hand?.kind === "carry" ? hand.names[point] : [];
  return { move: (at) => names.forEach((name, i) => put(player, name, at[i])), follow: () => {} };
}

/** @param {Player} player @param {string} name @param {number} value the parameter gets the nearest value on
 * its slider's grid */
const put = (player, name, value) => player.set(name, fitting(value, parameterOf(player.recipe, name)));

/** A point that is put into a direction at the clock's time. @param {Player} player @param {Relocate} hand
 * @param {number} point @returns {Held} */
function relocated(player, { slots }, point) {
  const clock = /** @type {string} */ (clockOf(player.recipe)?.name);
  /** @type {string[] | null} */ let slot = null;
  return {
    move: (at) => {
      slot ??= slotFor(player, slots, point);
      const length = Math.hypot(...at);
      if (!length) return;
      slot.slice(2).forEach((name, i) => put(player, name, at[i] / length));
      player.set(slot[1], player.params[clock]);
      player.set(slot[0], point);
    },
    follow: () => {
      if (slot) player.set(slot[1], player.params[clock]);
    },
  };
}

/** @type {WeakMap<Player, number>} the slot that was used last */
const latest = new WeakMap();

/** The parameters for the next point that is put somewhere: those of the same point at the same time, or free
 * ones, or those that were used longest ago. @param {Player} player @param {string[][]} slots
 * @param {number} point */
function slotFor(player, slots, point) {
  const { params } = player;
  const again = slots.findIndex((slot) => isPut(player, slot, point));
  const free = slots.findIndex(([who]) => params[who] < 0);
  const next = ((latest.get(player) ?? -1) + 1) % slots.length;
  const found = again >= 0 ? again : free >= 0 ? free : next;
  latest.set(player, found);
  return slots[found];
}

/** Whether these are the parameters of a point that was put somewhere at the clock's present time.
 * @param {Player} player @param {string[]} slot @param {number} point */
const isPut = ({ params, recipe }, [who, when], point) =>
  params[who] === point && params[when] === params[clockOf(recipe)?.name ?? ""];

/** Turn the followed point in the plane of its first two coordinates, at the clock's time, if a mark has
 * `Relocate`. @param {Player} player @param {number} degrees */
export function nudge(player, degrees) {
  const layer = player.recipe.views
    .flatMap(({ layers }) => layers)
    .find(({ hand }) => hand?.kind === "relocate");
  if (!layer) return;
  const k = layer.rows.length;
  const { followed, params } = player;
  const { slots } = /** @type {Relocate} */ (layer.hand);
  const slot = slots.find((each) => isPut(player, each, followed)); // newer than the last frame
  const shown = pointsOf(layer, player.moment).subarray(k * followed, k * followed + k);
  const [x, y, ...rest] = slot
    ? slot.slice(2).map((name) => params[name])
    : centre(layer).map((c, r) => shown[r] - c);
  const [cos, sin] = [Math.cos, Math.sin].map((f) => f((degrees * Math.PI) / 180));
  hold(player, layer, followed).move([cos * x - sin * y, sin * x + cos * y, ...rest]);
}

/** The nearest value on the slider's grid. @param {number} value
 * @param {{min: number, max: number, step: number}} parameter */
export function fitting(value, { min, max, step }) {
  const near = min + step * Math.round((Math.max(min, Math.min(max, value)) - min) / step);
  return Number(Math.min(max, near).toPrecision(12));
}
