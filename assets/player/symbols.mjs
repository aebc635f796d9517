// @ts-check
/** Make letters in the figure's formula draggable. Dragging a letter left or right changes the parameters
 * that it stands for, like their sliders beside the figure. */

import { h, readable } from "../dom.mjs";
import { below, lie } from "../letters.mjs";
import { MAX_SIDEWAYS_PX, fitting, fromTrack, toTrack, track } from "./controls.mjs";
/** @import { Parameter } from "../engine/engine.mjs" */
/** @import { Restore } from "./controls.mjs" */
/** @import { Player } from "./player.mjs" */

const SLIDER_WIDTH_PX = 240; // dragging this far takes a parameter from its minimum to its maximum
// how far left or right of a letter's middle a finger may touch it; above or below, twice as far
const FINGER_RADIUS_PX = 20;
const KEYS = /** @type {Record<string, number>} */ ({
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
  Home: -Infinity,
  End: Infinity,
});

/** The value that a parameter has after a move along its slider from `value`, rounded to the slider's steps
 * and limited to its range. @param {Parameter} p the parameter @param {number} value @param {number} by how
 * far to move, in units of the slider; on a logarithmic slider these are powers of ten */
const moved = (p, value, by) => fromTrack(p, fitting(toTrack(p, value) + by, track(p)));

/** Make draggable those letters of the formula that are symbols of parameters. @param {HTMLElement} formula
 * @param {Parameter[]} parameters the parameters whose controls the page shows @param {Player} player
 * @returns {(() => void)[]} for each symbol, a function to call after a change of the player's state */
export function symbols(formula, parameters, player) {
  const bubble = h("span", { className: "dragged", hidden: true });
  const letters = Array.from(formula.querySelectorAll("mi"));
  formula.append(bubble);
  const bySymbol = Map.groupBy(letters, ({ textContent }) => textContent); // in the order of the formula
  const shows = [...bySymbol].flatMap(([symbol, own]) => {
    const changed = parameters.filter((p) => p.symbol === symbol);
    return changed.length ? [handle(own, changed, bubble, player)] : [];
  });
  const handles = letters.filter((letter) => letter.classList.contains("symbol"));
  formula.onpointerdown = (event) => {
    if (handles.some((letter) => letter === event.target)) return;
    nearest(handles, event.clientX, event.clientY)?.dispatchEvent(new PointerEvent("pointerdown", event));
  };
  return shows;
}

/** The letter nearest to a touch at (x, y) in the window; undefined if there is none at a distance of at most
 * FINGER_RADIUS_PX horizontally and 2 · FINGER_RADIUS_PX vertically. On touch screens letters are too small
 * to be hit, so the formula itself receives the events (style.css). @template {Element} E @param {E[]}
 * letters @param {number} x @param {number} y */
function nearest(letters, x, y) {
  const near = letters
    .map((letter) => {
      const { left, top, width, height } = letter.getBoundingClientRect();
      return { letter, dx: Math.abs(x - left - width / 2), dy: Math.abs(y - top - height / 2) };
    })
    .filter(({ dx, dy }) => dx <= FINGER_RADIUS_PX && dy <= 2 * FINGER_RADIUS_PX);
  return near.sort((a, b) => Math.hypot(a.dx, a.dy) - Math.hypot(b.dx, b.dy))[0]?.letter;
}

/** Make all letters with one symbol draggable. For keyboards and screen readers, a formula is a single
 * element, so they cannot reach the letters; for them, an invisible slider lies over the first letter.
 * Returns a function that updates slider and bubble from the player's state. @param {Element[]} letters all
 * of one symbol @param {Parameter[]} parameters the parameters that the symbol changes @param {HTMLElement}
 * bubble shows the values while a letter is dragged @param {Player} player */
function handle(letters, parameters, bubble, player) {
  const [first] = parameters;
  const { min, max, step } = track(first);
  const names = parameters.map((p) => p.label).join(", ");
  const move = (/** @type {Record<string, number>} */ from, /** @type {number} */ by) => {
    for (const p of parameters)
      player.set(p.name, moved(p, from[p.name], (by * (track(p).max - track(p).min)) / (max - min)));
  };
  const values = () =>
    parameters.map((p) => `${p.label} = ${readable(player.params[p.name]).replace("-", "−")}`).join("\u2002");
  const { fill, say, hush } = bubbleOf(bubble);
  const slider = keyboardSlider(`letter-${player.slug}-${first.name}`, names, first, (by) => {
    move({ ...player.params }, by * step);
    say(slider, values());
    show();
  });
  bubble.before(slider);
  let known = "";
  const show = () => {
    const now = values();
    fill(now);
    if (now === known) return;
    known = now;
    slider.setAttribute("aria-valuenow", String(toTrack(first, player.params[first.name])));
    slider.setAttribute("aria-valuetext", now);
  };
  slider.addEventListener("focus", () => lie(slider, letters[0]));
  // without the focus it has no position, because the formula moves when the window gets narrower
  slider.addEventListener("blur", () => {
    hush();
    slider.removeAttribute("style");
  });
  const together = parameters.length > 1 ? ` This moves ${names} together, by the same amount.` : "";
  for (const letter of letters) {
    letter.classList.add("symbol");
    letter.setAttribute("title", `Drag left or right.${together} Double-click to reset.`);
    /** @type {Record<string, number>} */ let from = {};
    /** @type {Restore[]} */ let remembered = [];
    const begin = () => {
      remembered = parameters.map((p) => player.remember(p.name));
      slider.focus({ preventScroll: true });
      from = { ...player.params };
      say(letter, values());
    };
    const end = (/** @type {boolean} */ scrolls) => {
      if (scrolls) for (const restore of remembered) restore(true);
      hush();
    };
    dragged(letter, begin, (pixels) => move(from, (pixels * (max - min)) / SLIDER_WIDTH_PX), end);
    letter.addEventListener("dblclick", () => {
      for (const p of parameters) player.set(p.name, p.value);
    });
  }
  return show;
}

/** Create three functions for a bubble: `say` shows the bubble with a text below an element, `fill` changes
 * the text while the bubble is shown, and `hush` hides the bubble. @param {HTMLElement} bubble */
function bubbleOf(bubble) {
  let held = /** @type {Element | null} */ (null); // the element to which the bubble belongs
  const say = (/** @type {Element} */ element, /** @type {string} */ text) => {
    held = element;
    bubble.hidden = false;
    bubble.textContent = text;
    below(bubble, held);
  };
  const fill = (/** @type {string} */ text) => {
    if (held && bubble.textContent !== text) say(held, text);
  };
  const hush = () => {
    held = null;
    bubble.hidden = true;
  };
  return { fill, say, hush };
}

/** Create an invisible slider for the keyboard and for screen readers. @param {string} id of the element;
 * with the same id it keeps the focus when the formula is rebuilt @param {string} names the labels of the
 * parameters that the slider changes @param {Parameter} parameter the parameter whose range the slider has
 * @param {(by: number) => void} move called with the number of steps by which a key moves the slider @returns
 * {HTMLElement} */
function keyboardSlider(id, names, parameter, move) {
  const { min, max } = track(parameter);
  return h("span", {
    className: "letter",
    id,
    role: "slider",
    tabIndex: 0,
    "aria-label": `${names}, in the formula`,
    "aria-valuemin": min,
    "aria-valuemax": max,
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const by = KEYS[event.key];
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      move(by);
    },
  });
}

/** Call functions while the pointer drags an element. @param {Element} element @param {() => void} begin
 * called when a drag begins @param {(pixels: number) => void} move called with the distance to the right
 * since then, in pixels @param {(scrolls: boolean) => void} end called with whether the drag has become a
 * scroll of the page */
function dragged(element, begin, move, end) {
  /** @type {number | null} */ let start = null; // where the drag began, in pixels; null: no drag
  let aside = 0; // how far it has gone to the left or right
  const on = (/** @type {string} */ kind, /** @type {(event: PointerEvent) => void} */ hear) =>
    element.addEventListener(kind, (event) => {
      const pointer = /** @type {PointerEvent} */ (event);
      if (pointer.isPrimary) hear(pointer); // not a second finger
    });
  on("pointerdown", (event) => {
    if (event.button) return;
    event.preventDefault();
    element.setPointerCapture(event.pointerId);
    start = event.clientX;
    aside = 0;
    begin();
  });
  on("pointermove", ({ clientX }) => {
    if (start === null) return;
    aside = Math.max(aside, Math.abs(clientX - start));
    move(clientX - start);
  });
  for (const kind of ["pointerup", "pointercancel"])
    on(kind, () => {
      end(start !== null && kind === "pointercancel" && aside <= MAX_SIDEWAYS_PX);
      start = null;
    });
}
