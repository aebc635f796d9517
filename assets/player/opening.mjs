// @ts-check
/** The opening of a scene: on a reader's first visit the scene plays once by itself, unless the link asks for
 * a state. */

import { prefersReducedMotion } from "../browser.mjs";
/** @import { Player } from "./player.mjs" */

const READER_EVENTS = ["pointerdown", "keydown", "wheel", "touchstart"];

/** Play the scene if this is the reader's first visit (the page says so by `data-first`). The reader's first
 * action pauses it. Does nothing in embedded figures, in hidden tabs, or if the reader prefers reduced
 * motion. @param {Player} player */
export function opening(player) {
  const { first } = player.root.dataset;
  delete player.root.dataset.first;
  if (
    first === undefined ||
    player.pressed ||
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
        // the play button handles its own press, which pauses the scene
        const own = event.target instanceof Element && event.target.closest(".play");
        if (player.opening && !own) player.pause();
        if (!player.opening || own) touched.abort();
      },
      { signal, passive: true },
    );
}
