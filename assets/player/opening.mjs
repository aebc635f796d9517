// @ts-check
/** Start the opening of a scene: on a reader's first visit the scene plays once by itself, unless the link
 * asks for a state. */

import { prefersReducedMotion } from "../browser.mjs";
/** @import { Player } from "./player.mjs" */

const READER_EVENTS = ["pointerdown", "keydown", "wheel", "touchstart"];
const PRESSING_KEYS = ["Enter", " "]; // keys that press the focused button

/** Whether an event begins a press of the play button. Such an event must not pause the scene, because the
 * button itself pauses it. @param {Event} event */
function pressesPlay(event) {
  if (!(event.target instanceof Element && event.target.closest(".play"))) return false;
  return event instanceof KeyboardEvent ? PRESSING_KEYS.includes(event.key) : event.type !== "wheel";
}

/** Play the scene if this is the reader's first visit (the page says so by `data-first`). The reader's first
 * action pauses it. Does nothing in embedded figures, in hidden tabs, for links that ask for a state, for
 * scenes with one stage, if the reader prefers reduced motion, or if the reader has already acted.
 * @param {Player} player */
export function opening(player) {
  const { first } = player.root.dataset;
  delete player.root.dataset.first;
  if (
    first === undefined ||
    player.pointerDown ||
    player.apart ||
    location.search ||
    prefersReducedMotion() ||
    document.hidden ||
    !player.last
  )
    return;
  player.begin();
  if (!player.opening) return; // the reader acted first
  const touched = new AbortController();
  const signal = AbortSignal.any([touched.signal, player.life]);
  for (const kind of READER_EVENTS)
    addEventListener(
      kind,
      (event) => {
        if (pressesPlay(event)) return;
        if (player.opening) player.pause();
        touched.abort();
      },
      { signal, passive: true },
    );
}
