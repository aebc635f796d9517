// @ts-check
/** The first visit of a scene: it plays once by itself, if its link asks for nothing. */

const READER_EVENTS = ["pointerdown", "keydown", "wheel", "touchstart"];
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Play the scene on a first visit; the reader's first action pauses it.
 * @param {import("./player.mjs").Player} player */
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
  if (!player.opening) return; // the reader acted first
  const touched = new AbortController();
  const signal = AbortSignal.any([touched.signal, player.life]);
  for (const kind of READER_EVENTS)
    addEventListener(
      kind,
      (event) => {
        // pressing play pauses it anyway
        const own = event.target instanceof Element && event.target.closest(".play");
        if (player.opening && !own) player.pause();
        if (!player.opening || own) touched.abort();
      },
      { signal, passive: true },
    );
}
