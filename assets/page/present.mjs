// @ts-check
/** Presenter mode: the figure fills the screen, with the text of the current tour stop as a caption. The
 * keyboard or a clicker (a remote control for slides) moves through the tour. */

import { h } from "../dom.mjs";
import { opensElsewhere } from "../player/tour.mjs";
import { elsewhere } from "./keys.mjs";
import { store, stored } from "../browser.mjs";
/** @import { Player } from "../player/player.mjs" */

// if the L key is held for longer than this (milliseconds), the laser pointer turns off when the key is
// released
const HOLD_MS = 400;

// key in sessionStorage: whether the next page of this browser tab starts in presenter mode
const CONTINUE_KEY = "presenting";
// its value if the next page is the next or the previous scene; otherwise the value is a stop of the tour, -1
// for none, and counts only if the page is reloaded
const HANDED_OVER = "handed over";
const SLOW_ANSWER_MS = 3000; // then a notice says that the page of the other scene has not come yet
const WAITING_TEXT = "Waiting for the server …";
const NO_PAGE_TEXT = "The other scene cannot be opened at the moment, so the presentation stays in this one.";

/** Aborts the request for the page of another scene, if there is one. */
let leaving = new AbortController();

/** Start presenting in two cases: if the reader was presenting another scene, and came here from the first or
 * last stop of that scene's tour; or if the reader was presenting this scene, and has reloaded the page.
 * After a reload, the tour opens at the same stop. @param {Player} player */
export function goOn(player) {
  const value = stored(CONTINUE_KEY, "sessionStorage");
  if (player.apart || !value) return;
  store(CONTINUE_KEY, null, "sessionStorage");
  if (value !== HANDED_OVER) {
    const [entry] = performance.getEntriesByType("navigation");
    if (/** @type {PerformanceNavigationTiming} */ (entry)?.type !== "reload") return;
    if (Number(value) >= 0) player.tour?.open(Number(value));
  }
  present(player, true);
}

/** Note how the presentation goes on if the page is reloaded. Does nothing if the browser is already opening
 * another scene of the presentation (`toScene`). @param {number} stop the index of the tour's stop to open;
 * −1: the presentation goes on without a stop */
function continueAt(stop) {
  if (stored(CONTINUE_KEY, "sessionStorage") === HANDED_OVER) return;
  store(CONTINUE_KEY, String(stop), "sessionStorage");
}

/** Start presenting. The presentation ends with Escape, P, F, the × button, or when full screen ends. @param
 * {Player} player @param {boolean} [handed] whether the presentation is continued from another page: then
 * full screen starts only at the next key press, because browsers require one */
export function present(player, handed = false) {
  const { root, tour } = player;
  const ending = new AbortController();
  const { signal } = ending;
  if (player.apart || root.classList.contains("presenting")) return;
  const focusedBefore = document.activeElement;
  const dot = laser(root, signal);
  const close = h(
    "button",
    { type: "button", className: "leave", "aria-label": "Leave the presentation", onclick: () => leave() },
    "×",
  );
  const leave = () => {
    if (signal.aborted) return;
    // Leaving full screen fires `fullscreenchange`, which calls this function again to do the rest. Until
    // full screen has ended, the figures would have no room outside of the presentation
    if (document.fullscreenElement === root) return void document.exitFullscreen();
    ending.abort();
    stay(player);
    store(CONTINUE_KEY, null, "sessionStorage"); // also if the page of another scene is on its way
    root.classList.remove("presenting", "pointing");
    dot.element.remove();
    close.remove();
    const next =
      tour && tour.current >= 0 && !tour.card.contains(focusedBefore)
        ? tour.card.querySelector("h2")
        : focusedBefore;
    if (next?.isConnected) /** @type {HTMLElement} */ (next).focus({ preventScroll: true });
  };
  root.classList.add("presenting");
  root.append(close, dot.element);
  // the element that had the focus may be hidden now
  const focused = tour && !tour.card.hidden ? tour.card.querySelector("h2") : root.querySelector(".figure");
  /** @type {HTMLElement | null} */ (focused)?.focus({ preventScroll: true });
  // if the browser refuses full screen, the figure fills the window
  const fill = () => {
    if (document.fullscreenElement !== root) root.requestFullscreen?.().catch(() => {});
  };
  const exited = () => {
    if (document.fullscreenElement !== root) leave();
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => press(event, player, acts(player, dot, leave));
  addEventListener("keydown", pressed, { capture: true, signal });
  root.addEventListener("click", (event) => handOver(event, player), { signal });
  addEventListener("fullscreenchange", exited, { signal });
  player.life.addEventListener("abort", leave, { signal });
  addEventListener("pagehide", () => continueAt(tour?.current ?? -1), { signal });
  // capture, because `pressed` stops the keys that it handles
  if (handed) addEventListener("keydown", fill, { capture: true, once: true, signal });
  else fill();
}

/** Perform the action of a key press while presenting, and cancel a change of scene that waits. A key that is
 * held down acts once. Does nothing while a dialog is open, while Shift is held, or if the key press belongs
 * to the browser or to the focused element (`elsewhere`). Page Up and Page Down, the keys of a clicker (a
 * remote control for slides), move through the tour even while another control has the focus. Page Up, Page
 * Down and Enter take the focus from a field, so that the next keys are not typed into it. If the reader has
 * reached a slider by the keyboard, the arrow keys, Home and End move this slider. @param {KeyboardEvent}
 * event @param {Player} player @param {Record<string, () => void>} actions by key */
function press(event, player, actions) {
  const { ctrlKey, metaKey, altKey, shiftKey, key } = event;
  const target = /** @type {HTMLElement} */ (event.target);
  const alone = !ctrlKey && !metaKey && !altKey && !shiftKey;
  const ofClicker = alone && key.startsWith("Page");
  const moves = key.startsWith("Arrow") || key === "Home" || key === "End";
  const ofSlider = moves && target.matches("input[type=range]:focus-visible");
  if (document.querySelector("dialog[open]")) return;
  const left = ofClicker ? "input, select" : "input[type=text], input[type=number]";
  if ((ofClicker || (alone && key === "Enter")) && target.matches(left)) target.blur();
  if ((elsewhere(event) && !ofClicker) || ofSlider || shiftKey) return;
  const act = actions[key.length === 1 ? key.toLowerCase() : key];
  const pressesButton = [" ", "Enter"].includes(key) && target.closest("button");
  if (!act || pressesButton) return;
  event.preventDefault();
  event.stopPropagation();
  if (event.repeat) return;
  stay(player);
  act();
}

/** Handle a click while presenting. Any click cancels a change of scene that waits. If the click is on the
 * link at the end of the tour, and does not open another tab or window, the presentation then continues in
 * the next scene. @param {MouseEvent} event @param {Player} player */
function handOver(event, player) {
  stay(player);
  const target = /** @type {Element} */ (event.target);
  const link = /** @type {HTMLAnchorElement | null} */ (target.closest("a.onwards"));
  if (!link || opensElsewhere(event)) return;
  event.preventDefault();
  toScene(player, link.href);
}

/** Go to the last stop of the previous scene's tour, and continue the presentation there. Does nothing if
 * there is no previous scene. @param {Player} player */
function toSceneBefore(player) {
  const link = /** @type {HTMLAnchorElement | null} */ (player.root.querySelector(".onwards .before a"));
  if (link) toScene(player, `${link.href}?tour=${link.dataset.stops}`);
}

/** Open the page of another scene, and continue the presentation there. If the page cannot be opened, a
 * notice says so, because an error page would end the presentation. @param {Player} player
 * @param {string} href the address of the page */
async function toScene(player, href) {
  leaving = new AbortController();
  const { signal } = leaving;
  const late = setTimeout(() => player.notice(WAITING_TEXT, "status"), SLOW_ANSWER_MS);
  const reply = await fetch(href, { method: "HEAD", signal }).catch(() => null);
  clearTimeout(late);
  if (signal.aborted) return;
  if (!reply?.ok) return void player.notice(NO_PAGE_TEXT);
  store(CONTINUE_KEY, HANDED_OVER, "sessionStorage");
  location.assign(href);
}

/** Stay in this scene: end the request for the page of another scene, and remove the notice about it.
 * @param {Player} player */
function stay(player) {
  leaving.abort();
  if ([WAITING_TEXT, NO_PAGE_TEXT].includes(player.part("notice")?.textContent ?? "")) player.notice("");
}

/** The actions of keys while presenting, by key. A clicker (a remote control for slides) sends Page Up and
 * Page Down, and "." or "b" from its button for a black screen; these two keys play and pause here.
 * @param {Player} player @param {{press: () => void}} dot the laser pointer @param {() => void} leave ends
 * the presentation @returns {Record<string, () => void>} */
function acts(player, dot, leave) {
  const { tour } = player;
  const toggle = () => player.toggle();
  const on = () => (tour ? tour.next() : player.step(1));
  const back = () => {
    if (!tour) player.step(-1);
    else if (tour.current === 0) toSceneBefore(player);
    else tour.back();
  };
  const digits = Array.from({ length: 9 }, (_, i) => [
    String(i + 1),
    () => {
      if (!tour?.answer(i) && !tour?.stop?.question) player.goTo(Math.min(i + 1, player.last));
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
    r: () => (tour?.stop ? tour.visit(tour.current) : player.reset()),
    p: leave,
    f: leave,
    Escape: leave,
    ...Object.fromEntries(digits),
  };
}

/** Create a laser pointer: a soft dot in place of the mouse pointer. It is on while the L key is held, or
 * from one short press of L to the next. Returns the dot's element, and the function to call when L is
 * pressed (`press`). @param {HTMLElement} root the player's element @param {AbortSignal} signal removes the
 * laser pointer's listeners */
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
