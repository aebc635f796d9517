// @ts-check
/** Presenter mode: the figure fills the screen, with the tour's stop as a caption, controlled by a clicker.
 */

import { h } from "../dom.mjs";
import { opensElsewhere } from "../player/tour.mjs";
import { elsewhere } from "./keys.mjs";

const HOLD_MS = 400; // milliseconds after which the laser's key counts as held

const CONTINUE_KEY = "presenting"; // key in sessionStorage that continues the presentation on the next page

/** Continue a presentation that led here from another page.
 * @param {import("../player/player.mjs").Player} player */
export function goOn(player) {
  try {
    if (!sessionStorage.getItem(CONTINUE_KEY)) return;
    sessionStorage.removeItem(CONTINUE_KEY);
    present(player, true);
  } catch {
    /* without storage, the presentation does not continue */
  }
}

/** Start presenting, until Escape, P, or the end of full screen.
 * @param {import("../player/player.mjs").Player} player @param {boolean} [handed] continued from another
 * page: full screen starts at the next key press, as browsers require */
export function present(player, handed = false) {
  const { root, tour } = player;
  const stage = player.need("stage");
  const on = new AbortController();
  const { signal } = on;
  if (player.apart || root.classList.contains("presenting")) return;
  const left = document.activeElement;
  const home = tour?.card.parentElement;
  const dot = laser(root, signal);
  const close = h(
    "button",
    { type: "button", className: "leave", "aria-label": "Leave the presentation", onclick: () => leave() },
    "×",
  );
  const leave = () => {
    if (signal.aborted) return;
    // this event calls here again; in between there would be no room for figures
    if (document.fullscreenElement === root) return void document.exitFullscreen();
    on.abort();
    root.classList.remove("presenting", "pointing");
    for (const each of [dot.element, close]) each.remove();
    if (tour?.card.parentElement === stage) home?.prepend(tour.card);
    const back =
      tour && tour.current >= 0 && !tour.card.contains(left) ? tour.card.querySelector("h2") : left;
    if (back?.isConnected) /** @type {HTMLElement} */ (back).focus({ preventScroll: true });
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (elsewhere(event) || event.shiftKey || document.querySelector("dialog[open]")) return;
    const act = acts(player, dot, leave)[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    const own = [" ", "Enter"].includes(event.key) && /** @type {Element} */ (event.target).closest("button");
    if (!act || own) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) act();
  };
  root.classList.add("presenting");
  root.append(close, dot.element);
  if (tour) stage.append(tour.card);
  // the element with the focus is hidden, or has moved
  const focused = tour && !tour.card.hidden ? tour.card.querySelector("h2") : root.querySelector(".figure");
  /** @type {HTMLElement | null} */ (focused)?.focus({ preventScroll: true });
  // without full screen, the window is used
  const fill = () => {
    if (document.fullscreenElement !== root) root.requestFullscreen?.().catch(() => {});
  };
  addEventListener("keydown", press, { capture: true, signal });
  root.addEventListener(
    "click",
    (event) => {
      const leads = !opensElsewhere(event) && /** @type {Element} */ (event.target).closest("a.onwards");
      try {
        if (leads) sessionStorage.setItem(CONTINUE_KEY, "1");
      } catch {
        /* storage is not available */
      }
    },
    { signal },
  );
  addEventListener(
    "fullscreenchange",
    () => {
      if (document.fullscreenElement !== root) leave();
    },
    { signal },
  );
  player.life.addEventListener("abort", leave, { signal });
  if (handed) addEventListener("keydown", fill, { once: true, signal });
  else fill();
}

/** The actions of keys. Clickers send Page Up and Page Down, and "." or "b" for a black screen, which plays
 * here. @param {import("../player/player.mjs").Player} player @param {{press: () => void}} dot
 * @param {() => void} leave @returns {Record<string, () => void>} */
function acts(player, dot, leave) {
  const { tour } = player;
  const toggle = () => player.toggle();
  const on = tour ? tour.next : () => player.step(1);
  const back = tour ? tour.back : () => player.step(-1);
  const digits = Array.from({ length: 9 }, (_, i) => [
    String(i + 1),
    () => {
      if (!tour?.answer(i)) player.goTo(Math.min(i + 1, player.last));
    },
  ]);
  return {
    ArrowRight: on,
    ArrowDown: on,
    PageDown: on,
    ArrowLeft: back,
    ArrowUp: back,
    PageUp: back,
    Home: () => (tour ? tour.visit(0) : player.goTo(0)),
    End: () => (tour ? tour.visit(tour.last) : player.goTo(player.last)),
    " ": toggle,
    ".": toggle,
    b: toggle,
    l: dot.press,
    p: leave,
    f: leave,
    Escape: leave,
    ...Object.fromEntries(digits),
  };
}

/** A laser pointer: a soft dot in place of the pointer, while its key is held, or between two presses.
 * @param {HTMLElement} root @param {AbortSignal} signal */
function laser(root, signal) {
  const element = h("div", { className: "laser", ariaHidden: "true" });
  let since = Infinity;
  addEventListener(
    "pointermove",
    ({ clientX, clientY }) => {
      element.style.translate = `${clientX}px ${clientY}px`;
    },
    { signal },
  );
  addEventListener(
    "keyup",
    ({ key, timeStamp }) => {
      if (key.toLowerCase() === "l" && timeStamp - since > HOLD_MS) root.classList.remove("pointing");
    },
    { signal },
  );
  const press = () => {
    since = root.classList.toggle("pointing") ? performance.now() : Infinity;
  };
  return { element, press };
}
