// @ts-check
/** Letters of the formula that can be dragged: each is a slider for its parameters, like those beside the
 * figure. */

import { h, readable } from "../dom.mjs";
import { below, lie } from "../letters.mjs";
import { fromTrack, toTrack, track } from "./controls.mjs";

/** @typedef {import("../engine/engine.mjs").Parameter} Parameter */

const SLIDER_WIDTH_PX = 240; // of dragging, from one end of a slider to the other
const FINGER_RADIUS_PX = 20; // from the middle of a letter, within which a finger still hits it
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

/** A parameter's value after moving along its slider, rounded to its steps. @param {Parameter} p
 * @param {number} value @param {number} by in units of the slider */
export function moved(p, value, by) {
  const { min, max, step } = track(p);
  const at = Math.max(min, Math.min(max, toTrack(p, value) + by));
  return fromTrack(p, at === max ? max : min + step * Math.round((at - min) / step));
}

/** Group parameters by the symbol of the formula that is dragged to change them; those without a symbol are
 * left out. @param {Parameter[]} parameters */
export function bySymbol(parameters) {
  /** @type {Map<string, Parameter[]>} */ const found = new Map();
  for (const p of parameters) if (p.symbol) found.set(p.symbol, [...(found.get(p.symbol) ?? []), p]);
  return found;
}

/** Make letters of the formula draggable. @param {HTMLElement} formula @param {Parameter[]} parameters those
 * that the page offers @param {import("./player.mjs").Player} player @returns {(() => void)[]} a function
 * that shows the state */
export function symbols(formula, parameters, player) {
  const bubble = h("output", { className: "dragged", hidden: true });
  const letters = Array.from(formula.querySelectorAll("mi"));
  formula.append(bubble);
  const shows = [...bySymbol(parameters)].map(([symbol, own]) =>
    handle(
      letters.filter((l) => l.textContent === symbol),
      own,
      bubble,
      player,
    ),
  );
  const handles = letters.filter((letter) => letter.classList.contains("symbol"));
  formula.onpointerdown = (event) => {
    if (handles.some((letter) => letter === event.target)) return;
    nearest(handles, event.clientX, event.clientY)?.dispatchEvent(new PointerEvent("pointerdown", event));
  };
  return shows;
}

/** The letter that a finger means: on touch screens the formula itself receives the events (style.css).
 * @template {Element} E @param {E[]} letters @param {number} x @param {number} y in the window */
function nearest(letters, x, y) {
  const near = letters
    .map((letter) => {
      const { left, top, width, height } = letter.getBoundingClientRect();
      return { letter, dx: Math.abs(x - left - width / 2), dy: Math.abs(y - top - height / 2) };
    })
    .filter(({ dx, dy }) => dx <= FINGER_RADIUS_PX && dy <= 2 * FINGER_RADIUS_PX);
  return near.sort((a, b) => Math.hypot(a.dx, a.dy) - Math.hypot(b.dx, b.dy))[0]?.letter;
}

/** Make all letters of one symbol draggable. Keyboards and screen readers, for which a formula is one
 * element, get a slider over the first. @param {Element[]} letters all of one symbol
 * @param {Parameter[]} parameters the parameters that the symbol moves @param {HTMLElement} bubble
 * @param {import("./player.mjs").Player} player */
function handle(letters, parameters, bubble, player) {
  const [first] = parameters;
  const { min, max, step } = track(first);
  const names = parameters.map((p) => p.label).join(", ");
  const slider = h("span", {
    className: "letter",
    role: "slider",
    tabIndex: 0,
    "aria-label": `${names}, in the formula`,
    "aria-valuemin": min,
    "aria-valuemax": max,
  });
  bubble.before(slider);
  const move = (/** @type {Record<string, number>} */ from, /** @type {number} */ by) => {
    for (const p of parameters)
      player.set(p.name, moved(p, from[p.name], (by * (track(p).max - track(p).min)) / (max - min)));
  };
  const words = () =>
    parameters.map((p) => `${p.label} = ${readable(player.params[p.name]).replace("-", "−")}`).join("\u2002");
  let known = "";
  let held = /** @type {Element | null} */ (null);
  const place = () => {
    if (held) below(bubble, held);
  };
  const show = () => {
    const now = words();
    if (held && bubble.textContent !== now) {
      bubble.textContent = now;
      place();
    }
    if (now === known) return;
    known = now;
    slider.setAttribute("aria-valuenow", String(toTrack(first, player.params[first.name])));
    slider.setAttribute("aria-valuetext", now);
  };
  const say = (/** @type {Element} */ letter) => {
    held = letter;
    bubble.hidden = false;
    show();
    place();
  };
  const hush = () => {
    held = null;
    bubble.hidden = true;
  };
  const reset = () => {
    for (const p of parameters) player.set(p.name, p.value);
  };
  const together = parameters.length > 1 ? ` This moves ${names} together, by the same amount.` : "";
  for (const letter of letters) {
    letter.classList.add("symbol");
    letter.setAttribute("title", `Drag left or right.${together} Double-click to reset.`);
    /** @type {{x: number, from: Record<string, number>} | undefined} */ let grip;
    const on = (/** @type {string} */ kind, /** @type {(event: any) => void} */ hear) =>
      letter.addEventListener(kind, hear);
    on("pointerdown", (/** @type {PointerEvent} */ event) => {
      if (event.button) return;
      event.preventDefault();
      letter.setPointerCapture(event.pointerId);
      slider.focus({ preventScroll: true });
      grip = { x: event.clientX, from: { ...player.params } };
      say(letter);
    });
    on("pointermove", (/** @type {PointerEvent} */ event) => {
      if (grip) move(grip.from, ((event.clientX - grip.x) * (max - min)) / SLIDER_WIDTH_PX);
    });
    for (const end of ["pointerup", "pointercancel"])
      on(end, () => {
        grip = undefined;
        hush();
      });
    on("dblclick", reset);
  }
  slider.addEventListener("keydown", (event) => {
    const by = KEYS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    move({ ...player.params }, by * step);
    say(slider);
  });
  slider.addEventListener("focus", () => lie(slider, letters[0]));
  // or it would stay in place when the window narrows
  slider.addEventListener("blur", () => {
    hush();
    slider.removeAttribute("style");
  });
  return show;
}
