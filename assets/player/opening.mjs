// @ts-check
/** The first run of a scene: who comes for the first time, by a link that asks for nothing, is shown once
 * what there is to see. */

const READER_EVENTS = ["pointerdown", "keydown", "wheel", "touchstart"];
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Plays it, where it is due; the first touch stops it. @param {import("./player.mjs").Player} player */
export function opening(player) {
  const { first } = player.root.dataset;
  delete player.root.dataset.first;
  if (
    first === undefined ||
    player.pressed ||
    player.apart ||
    location.search ||
    calm.matches ||
    document.hidden ||
    !player.last
  )
    return;
  player.begin();
  if (!player.opening) return; // the reader was first
  const touched = new AbortController();
  const signal = AbortSignal.any([touched.signal, player.life]);
  for (const kind of READER_EVENTS)
    addEventListener(
      kind,
      (event) => {
        // which stops it by itself
        const own = event.target instanceof Element && event.target.closest(".play");
        if (player.opening && !own) player.pause();
        if (!player.opening || own) touched.abort();
      },
      { signal, passive: true },
    );
}
