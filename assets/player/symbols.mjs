// @ts-check
/** Letters of the formula that a hand moves: each is a slider, and so are those of its name beside the figure. */

import { fromTrack, h, readable, toTrack, track } from "./controls.mjs";

/** @typedef {import("../engine/engine.mjs").Parameter} Parameter */

const WIDTH = 240; // pixels of the hand, from one end of a slider to the other
const KEYS = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity });

/** A parameter's value so far along its slider from another, on one of its steps. @param {Parameter} p @param {number} value @param {number} by in units of the slider */
export function moved(p, value, by) {
  const { min, max, step } = track(p), at = Math.max(min, Math.min(max, toTrack(p, value) + by));
  return fromTrack(p, at === max ? max : min + step * Math.round((at - min) / step));
}

/** Parameters by the letter of the formula that moves them. @param {Parameter[]} parameters */
export function bySymbol(parameters) {
  /** @type {Map<string, Parameter[]>} */ const found = new Map();
  for (const p of parameters) if (p.symbol) found.set(p.symbol, [...(found.get(p.symbol) ?? []), p]);
  return found;
}

/** Makes letters of the formula handles. @param {HTMLElement} formula @param {Parameter[]} parameters those that the page offers
 * @param {import("./player.mjs").Player} player @returns {(() => void)[]} shows the state */
export function symbols(formula, parameters, player) {
  const bubble = h("output", { className: "dragged", hidden: true });
  const letters = Array.from(formula.querySelectorAll("mi"));
  const shows = [...bySymbol(parameters)].map(([symbol, own]) => handle(letters.filter((l) => l.textContent === symbol), own, bubble, player));
  if (shows.length) formula.append(bubble);
  return shows;
}

/** @param {Element[]} letters all of one symbol @param {Parameter[]} own what it moves @param {HTMLElement} bubble @param {import("./player.mjs").Player} player */
function handle(letters, own, bubble, player) {
  const [first] = own, { min, max, step } = track(first), names = own.map((p) => p.label).join(", ");
  const move = (/** @type {Record<string, number>} */ from, /** @type {number} */ by) => {
    for (const p of own) player.set(p.name, moved(p, from[p.name], (by * (track(p).max - track(p).min)) / (max - min)));
  };
  const words = () => own.map((p) => `${p.label} = ${readable(player.params[p.name]).replace("-", "−")}`).join("\u2002");
  /** @type {Element | undefined} */ let held;
  const say = (/** @type {Element | undefined} */ letter) => {
    held = letter;
    bubble.hidden = !letter;
    if (!letter) return;
    const at = letter.getBoundingClientRect(), around = /** @type {HTMLElement} */ (bubble.parentElement).getBoundingClientRect();
    show();
    const half = bubble.offsetWidth / 2, middle = Math.max(half, Math.min(innerWidth - half, at.left + at.width / 2));
    bubble.style.left = `${middle - around.left}px`;
    bubble.style.top = `${at.bottom - around.top}px`;
  };
  let known = "";
  const show = () => {
    const now = words();
    if (held) bubble.textContent = now;
    if (now === known) return;
    known = now;
    letters[0]?.setAttribute("aria-valuenow", String(toTrack(first, player.params[first.name])));
    letters[0]?.setAttribute("aria-valuetext", now);
  };
  letters.forEach((letter, k) => {
    letter.classList.add("symbol");
    if (k === 0) {
      for (const [name, value] of Object.entries({ role: "slider", tabindex: 0, "aria-label": `${names}, in the formula`, "aria-valuemin": min, "aria-valuemax": max })) letter.setAttribute(name, String(value));
    }
    const together = own.length > 1 ? ` It moves ${names} together, by the same step.` : "";
    letter.setAttribute("title", `Drag to the left or right, or use the arrow keys.${together} Double click: back to the default.`);
    /** @type {{x: number, from: Record<string, number>} | undefined} */ let grip;
    const on = (/** @type {string} */ kind, /** @type {(event: any) => void} */ hear) => letter.addEventListener(kind, hear);
    on("pointerdown", (/** @type {PointerEvent} */ event) => {
      if (event.button) return;
      event.preventDefault();
      letter.setPointerCapture(event.pointerId);
      /** @type {HTMLElement} */ (letters[0]).focus({ preventScroll: true });
      grip = { x: event.clientX, from: { ...player.params } };
      say(letter);
    });
    on("pointermove", (/** @type {PointerEvent} */ event) => { if (grip) move(grip.from, ((event.clientX - grip.x) * (max - min)) / WIDTH); });
    for (const end of ["pointerup", "pointercancel"]) on(end, () => { grip = undefined; say(undefined); });
    on("keydown", (/** @type {KeyboardEvent} */ event) => {
      const by = KEYS[event.key];
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      move({ ...player.params }, by * step);
      say(letter);
    });
    on("blur", () => say(undefined));
    on("dblclick", () => { for (const p of own) player.set(p.name, p.value); });
  });
  return show;
}
