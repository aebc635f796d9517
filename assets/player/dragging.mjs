// @ts-check
/**
 * Let readers drag points of a mark on the figure itself, without handles. The mark's `hand` (its action)
 * says what a drag does: `Carry`, in 2D views, sets the two parameters that are the point's x and y;
 * `Relocate` moves a point of a circle or a sphere to another place on it, from the clock's present time on.
 *
 * @typedef {{move: (at: number[]) => void, follow: () => void}} Held a point that is being dragged. move: a
 *   function that puts the point at a place; follow: a function that keeps the point at that place while the
 *   clock runs, to be called in each frame
 */

import { clockOf, marksOf, parameterOf } from "../engine/engine.mjs";
import { eyeOf, onSphere } from "../engine/perspective.mjs";
import { pointsOf } from "../engine/shown.mjs";
import { fitting } from "./controls.mjs";
/** @import { Mark, Relocate } from "../engine/recipe.d.ts" */
/** @import { Panel } from "../painter/painter.mjs" */
/** @import { Player } from "./player.mjs" */

const PICK_RADIUS_PX = 14; // a press at most this far from a point begins to drag it

/** The names of the events by which Plotly turns a 3D figure. They do not reach Plotly while a point is
 * dragged. Browsers send `mouseout` and `mouseleave`, too, when a pressed pointer is captured. */
const MOUSE_AND_TOUCH = ["down", "move", "out", "leave", "over", "enter"]
  .map((what) => `mouse${what}`)
  .concat("touchstart", "touchmove");

/** Let the pointer drag points of some marks of a panel. A press near a point selects (follows) the nearest
 * point and starts to drag it; all other events go to Plotly as usual. @param {Player} player @param {Panel}
 * panel @param {Mark[]} layers the marks whose points can be dragged @param {AbortSignal} signal aborts when
 * the panel gets another recipe @returns {() => void} a function to call in each frame: it keeps a dragged
 * point at its place while the clock runs */
export function dragging(player, panel, layers, signal) {
  const { gd } = panel;
  const options = { signal, capture: true };
  /** @type {Held | null} */ let held = null;
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
    if (!held) return;
    event.stopPropagation(); // Plotly would turn the space
    if (event.cancelable) event.preventDefault(); // a finger would scroll the page
  };
  gd.addEventListener(
    "pointerdown",
    (/** @type {PointerEvent} */ event) => {
      if (!event.isPrimary) held = null; // two fingers zoom the figure
      if (!event.isPrimary || event.button || /** @type {Element} */ (event.target).closest(".handle"))
        return;
      const found = nearest(event);
      const { point } = found;
      if (point < 0) return;
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
      if (!event.isPrimary) return;
      gd.classList.toggle("carries", held !== null || nearest(event).point >= 0);
      held?.move(under(panel, layer, place(event)));
    },
    options,
  );
  for (const other of MOUSE_AND_TOUCH) gd.addEventListener(other, keep, { ...options, passive: false });
  for (const end of ["pointerup", "pointercancel"]) gd.addEventListener(end, () => (held = null), options);
  return () => held?.follow();
}

/** The display coordinates at which a mark draws the origin of its cloud's space: the offsets of the mark's
 * rows. @param {Mark} layer */
const centre = ({ rows }) => rows.map(({ offset }) => offset);

/** The point of a mark that is nearest to a pixel: its index (`point`) and its distance from the pixel
 * (`far`, in pixels). In 3D only points on the near side of the mark's sphere count. Index −1 if no point is
 * within PICK_RADIUS_PX. @param {Player} player @param {Panel} panel @param {Mark} layer @param {number[]}
 * pixel from the panel's top left */
function near(player, panel, layer, [x, y]) {
  const points = pointsOf(layer, player.moment);
  const k = layer.rows.length;
  const pixels = panel.pixels(points);
  const camera = panel.camera();
  const eye = camera && eyeOf(panel.ranges, camera);
  const middle = centre(layer);
  let point = -1;
  let least = PICK_RADIUS_PX;
  for (let i = 0; i < points.length / k; i++) {
    const at = points.subarray(k * i, k * i + k);
    const far = Math.hypot(pixels[2 * i] - x, pixels[2 * i + 1] - y);
    if (far >= least || (eye && at.reduce((sum, a, r) => sum + (a - middle[r]) * (eye[r] - a), 0) < 0))
      continue;
    point = i;
    least = far;
  }
  return { point, far: least };
}

/** The place under a pixel, relative to the mark's centre. In 3D it is a unit vector: the point under the
 * pixel on the unit sphere around the centre. If the pixel is outside the sphere's outline, the vector has
 * the direction from the centre to the nearest point of the ray that leads from the camera through the
 * pixel. @param {Panel} panel @param {Mark} layer @param {number[]} pixel from the panel's top left */
function under(panel, layer, [left, top]) {
  const { gd, ranges } = panel;
  const camera = panel.camera();
  if (camera) return onSphere([left, top], centre(layer), ranges, camera, gd.clientWidth, gd.clientHeight);
  const at = panel.point(left, top);
  return centre(layer).map((c, r) => at[r] - c);
}

/**
 * Start to drag a point of a mark, in the way that the mark's `hand` says.
 * @param {Player} player @param {Mark} layer @param {number} point the index of the point @returns {Held}
 */
function hold(player, { hand }, point) {
  if (hand?.kind === "relocate") return relocated(player, hand, point);
  const names = hand?.kind === "carry" ? hand.names[point] : [];
  return { move: (at) => names.forEach((name, i) => put(player, name, at[i])), follow: () => {} };
}

/** Set the parameter `name` to the value nearest to `value` that its slider can have. @param {Player} player
 * @param {string} name @param {number} value */
export const put = (player, name, value) =>
  player.set(name, fitting(value, parameterOf(player.recipe, name)));

/** Start to drag a point of a circle or sphere. Each move writes the point's index, the clock's time and the
 * point's new direction into one of the mark's slots. A slot is the list of the names of the parameters of
 * one `Put` (a change of direction in a flow). @param {Player} player @param {Relocate} hand the mark's
 * action, with its slots @param {number} point @returns {Held} */
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

/** @type {WeakMap<Player, number[]>} the indices of each player's slots, from the one whose last use is the
 * longest ago to the one used last */
const used = new WeakMap();

/** Choose the slot in which to record a move of a point at the clock's present time, and note the slot in
 * `used` as the one used last. Returns the slot: the one that already has a move of this point at this time;
 * otherwise a free slot; otherwise the slot whose last use is the longest ago. @param {Player} player @param
 * {string[][]} slots the names of the parameters of each slot: index of the point, time, coordinates @param
 * {number} point */
function slotFor(player, slots, point) {
  const { params } = player;
  const again = slots.findIndex((slot) => isPut(player, slot, point));
  const free = slots.findIndex(([who]) => params[who] < 0);
  const order = used.get(player) ?? [...slots.keys()];
  const found = again >= 0 ? again : free >= 0 ? free : order[0];
  used.set(player, [...order.filter((k) => k !== found), found]);
  return slots[found];
}

/** Whether a slot already records a move of this point at the clock's present time. @param {Player} player
 * @param {string[]} slot the names of its parameters @param {number} point the index of the point */
const isPut = ({ params, recipe }, [who, when], point) =>
  params[who] === point && params[when] === params[clockOf(recipe)?.name ?? ""];

/** Turn the followed (selected) point around the origin in the plane of its first two coordinates, from the
 * clock's present time on. Does nothing if no mark has a `Relocate`. @param {Player} player
 * @param {number} degrees positive from the first axis to the second */
export function nudge(player, degrees) {
  const layer = marksOf(player.recipe).find(({ hand }) => hand?.kind === "relocate");
  if (!layer) return;
  const k = layer.rows.length;
  const { followed, params } = player;
  const { slots } = /** @type {Relocate} */ (layer.hand);
  const slot = slots.find((each) => isPut(player, each, followed)); // newer than the drawn frame
  const shown = pointsOf(layer, player.moment).subarray(k * followed, k * followed + k);
  const [x, y, ...rest] = slot
    ? slot.slice(2).map((name) => params[name])
    : centre(layer).map((c, r) => shown[r] - c);
  const [cos, sin] = [Math.cos, Math.sin].map((f) => f((degrees * Math.PI) / 180));
  hold(player, layer, followed).move([cos * x - sin * y, sin * x + cos * y, ...rest]);
}
