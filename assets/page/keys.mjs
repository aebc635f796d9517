// @ts-check
/** The keyboard shortcuts of a figure, and the dialog that lists them. */

import { h } from "../dom.mjs";
import { marksOf } from "../engine/engine.mjs";
import { follows } from "../engine/hands.mjs";
import { openFollowed } from "../player/clicks.mjs";
import { nudge } from "../player/dragging.mjs";
import { pointCount } from "../player/link.mjs";
import { store, stored } from "../browser.mjs";
/** @import { Player } from "../player/player.mjs" */

const TURN_DEGREES = 10; // degrees of camera rotation per key press
// limit of the camera's elevation: seen from straight above, the view would have no defined left and right
const MAX_ELEVATION_DEGREES = 85;

const SHORTCUTS_KEY = "keys"; // localStorage key: value "off" if single-character shortcuts are off

const KEYS = [
  ["space", "play, pause"],
  ["← →", "previous stage, next stage"],
  ["0 … 9", "go to that stage"],
  [", .", "follow the previous point, the next point"],
  ["A D", "turn the followed point, in scenes where every point can be dragged"],
  ["Shift + ← → ↑ ↓", "turn the scene"],
  ["Enter", "open the page of the followed point, if it has one"],
  ["R", "reset to the defaults"],
  ["T", "play the training, if there is one"],
  ["F", "full screen"],
  [
    "P",
    "present: the figure fills the screen. There ← →, Page Up and Down, Home, End lead through " +
      "the tour, 1 … 9 answer its questions, R shows the stop afresh, L is a laser dot, Esc leaves",
  ],
  ["Tab", "to the next button or slider. There space and Enter press a button, ← → move a slider"],
  ["?", "this list"],
  ["drag", "turn the scene"],
  ["Ctrl + wheel, or two fingers", "zoom"],
  ["click a point", "follow it"],
];

/** Whether the reader has turned single-character shortcuts off. Users of speech input need this, because
 * dictated words would trigger them. */
const quiet = () => stored(SHORTCUTS_KEY) === "off";

/** Whether the player must ignore a key press: if the key press belongs to the browser (Ctrl, Alt, ⌘) or to a
 * focused field (sliders do not count), or if it is a character other than space and the reader has turned
 * single-character shortcuts off.
 * @param {KeyboardEvent} event */
export function elsewhere(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  const sign = event.key.length === 1 && event.key !== " ";
  return (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    (sign && quiet()) ||
    Boolean(target.closest?.("input:not([type=range]), textarea, select, [contenteditable]"))
  );
}

/** Perform the action of a key press on a player, and prevent the browser's default action. Does nothing
 * while a dialog is open, for a key without an action, for one that the focused element uses itself, or for
 * one that the player must ignore (`elsewhere`). @param {KeyboardEvent} event @param {Player} player */
export function key(event, player) {
  const target = /** @type {HTMLElement} */ (event.target);
  const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const page = /** @type {Document | ShadowRoot} */ (player.root.getRootNode());
  if (elsewhere(event) || page.querySelector("dialog[open]")) return;
  const pressed = target.closest("button, a, summary"); // these elements use space and Enter themselves
  const act = (event.shiftKey ? TURNS(player) : STEPS(player))[letter] ?? LETTERS(player)[letter];
  if (event.key === " ") {
    if (pressed) return;
    if (!event.repeat) player.toggle();
  } else if (/^\d$/.test(event.key)) player.goTo(Math.min(Number(event.key), player.last));
  else if (
    !act ||
    (event.key === "Enter" && pressed) ||
    (event.key.startsWith("Arrow") && target.closest("input, [popover], [tabindex='0']"))
  )
    return;
  else act();
  event.preventDefault();
}

/**
 * The actions of the arrow keys, by key: to the previous and to the next stage. @param {Player} player
 * @returns {Record<string, () => void>}
 */
const STEPS = (player) => ({ ArrowLeft: () => player.step(-1), ArrowRight: () => player.step(1) });

/**
 * The actions of the arrow keys with Shift, by key: they turn the camera. @param {Player} player
 * @returns {Record<string, () => void>}
 */
const TURNS = (player) => ({
  ArrowLeft: () => turn(player, -TURN_DEGREES, 0),
  ArrowRight: () => turn(player, TURN_DEGREES, 0),
  ArrowUp: () => turn(player, 0, TURN_DEGREES),
  ArrowDown: () => turn(player, 0, -TURN_DEGREES),
});

/**
 * The actions of Enter and of the single-character shortcuts except digits, by key. @param {Player} player
 * @returns {Record<string, () => void>}
 */
const LETTERS = (player) => ({
  r: () => player.reset(),
  f: () => player.fullscreen(),
  t: () => player.toggleClock(),
  "?": () => help(player),
  p: () => player.commands.present(player),
  Enter: () => openFollowed(player),
  a: () => nudge(player, TURN_DEGREES),
  d: () => nudge(player, -TURN_DEGREES),
  ",": () => followNext(player, -1),
  ".": () => followNext(player, 1),
});

/**
 * Follow (select) the point whose index is `by` higher than that of the followed one; the first point comes
 * after the last. Does nothing in scenes where no point can be followed. @param {Player} player
 * @param {number} by negative for earlier points
 */
function followNext(player, by) {
  const { recipe } = player;
  const count = pointCount(recipe);
  if (recipe.table || marksOf(recipe).some(follows)) player.follow((player.followed + by + count) % count);
}

/** Rotate the camera of the 3D views around the vertical axis, and up or down, as dragging with the mouse
 * does. Does nothing if there is no 3D view. @param {Player} player @param {number} around the angle around
 * the axis, in degrees @param {number} up the angle upwards, in degrees. The elevation stays within
 * ±MAX_ELEVATION_DEGREES; if it is already beyond this limit, it does not move farther beyond */
function turn(player, around, up) {
  const panel = player.panels.find((p) => p.is3d);
  const before = panel?.camera();
  if (!panel || !before) return;
  const { eye, center } = before;
  const [x, y, z] = eye.map((e, i) => e - center[i]);
  const far = Math.hypot(x, y, z);
  const radians = Math.PI / 180;
  const steepest = MAX_ELEVATION_DEGREES * radians;
  const height = Math.asin(z / far);
  // a camera that is already beyond the limit is not pulled back to it
  const bounds = [Math.min(-steepest, height), Math.max(steepest, height)];
  const angle = Math.atan2(y, x) + around * radians;
  const lift = Math.max(bounds[0], Math.min(bounds[1], height + up * radians));
  const camera = {
    eye: [
      far * Math.cos(lift) * Math.cos(angle),
      far * Math.cos(lift) * Math.sin(angle),
      far * Math.sin(lift),
    ].map((e, i) => e + center[i]),
    center,
  };
  panel.turn(camera);
}

/** Show the dialog that lists the keyboard shortcuts, and in which the reader can turn single-character
 * shortcuts off. @param {Player} player */
export function help(player) {
  const page = player.root.closest(".page") ?? document.body;
  const letters = h("input", {
    type: "checkbox",
    checked: !quiet(),
    onchange: () => store(SHORTCUTS_KEY, letters.checked ? "on" : "off"),
  });
  const dialog = h(
    "dialog",
    { className: "help", "aria-labelledby": "keys-title", onclose: () => dialog.remove() },
    h("h2", { id: "keys-title" }, "Keys"),
    h("dl", {}, ...KEYS.flatMap(([k, what]) => [h("dt", {}, k), h("dd", {}, what)])),
    h("label", {}, letters, " Use letters, digits and punctuation as shortcuts"),
    h("button", { type: "button", onclick: () => dialog.close() }, "Close"),
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  page.append(dialog);
  dialog.showModal();
}
