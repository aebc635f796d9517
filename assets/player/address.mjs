// @ts-check
/** Write the player's state into the page's address, and the tour's stop into the browser's history. */

/** @import { Player } from "./player.mjs" */

/** Announce the player's state by the event `normscape:state`. On the scene's own page, also write the state
 * into the page's address. The address stays as it is in an embedded figure, while a running training is
 * shown, and (unless `push`) while the state that the address names is still being loaded. @param {Player}
 * player @param {boolean} push whether to add an entry to the browser's history, instead of replacing the
 * present one */
export function writeAddress(player, push) {
  const { root, query, path } = player;
  root.dispatchEvent(new CustomEvent("normscape:state", { detail: query, bubbles: true }));
  if (
    player.apart ||
    player.closed ||
    player.growing ||
    (player.following && !push) ||
    location.pathname !== path ||
    query === location.search
  )
    return;
  history[push ? "pushState" : "replaceState"](history.state, "", (query || path) + location.hash);
}

/** Add an entry to the browser's history for the next stop of the tour, and note both stops in their
 * entries, so that the browser's Back button leads from stop to stop. Does nothing in an embedded figure.
 * @param {Player} player @param {number} before the index of the stop that was shown; −1 if none was @param
 * {number} stop the index of the next stop @param {boolean} linked whether the page's link asks for the
 * stop: then it is noted in the present entry, and no entry is added */
export function writeStop(player, before, stop, linked) {
  if (player.apart || player.closed || location.pathname !== player.path) return;
  if (linked) return history.replaceState({ ...history.state, stop }, "");
  writeAddress(player, false);
  history.replaceState({ ...history.state, stop: before }, "");
  history.pushState({ ...history.state, stop }, "");
}
