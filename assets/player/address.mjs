// @ts-check
/** Write the player's state into the page's address, and the tour's stop into the browser's history. */

import { write } from "./link.mjs";
import { resting } from "./resting.mjs";
/** @import { Player } from "./player.mjs" */

/** Whether the page's address, and so the browser's history, is that of the player. @param {Player} player */
const addressed = ({ apart, closed, path }) => !apart && !closed && location.pathname === path;

/** The state of a further entry of the browser's history. It notes the tour's stop that the entry shows, −1
 * if the tour is closed; and its depth in the tour: how many entries before it the tour was opened.
 * @param {number} [stop] if not given, that of the present entry */
function further(stop = history.state?.stop ?? -1) {
  const { stop: before = -1, depth = 0 } = history.state ?? {};
  return { ...history.state, stop, depth: before < 0 ? 1 : depth + 1 };
}

/** Announce the player's state by the event `normscape:state`; if the figure moves, the state in which it
 * will come to rest. On the scene's own page, also write it into the page's address. The address stays as it
 * is in an embedded figure, while a running training is shown, and (unless `push`) while the state that the
 * address names is still being loaded. @param {Player} player @param {boolean} push whether to add an entry
 * to the browser's history, instead of replacing the present one */
export function writeAddress(player, push) {
  const { root, path } = player;
  const query = write(resting(player), player.usual, player.recipe);
  root.dispatchEvent(new CustomEvent("normscape:state", { detail: query, bubbles: true }));
  if (!addressed(player) || player.growing || (player.following && !push) || query === location.search)
    return;
  const url = (query || path) + location.hash;
  if (push) history.pushState(further(), "", url);
  else history.replaceState(history.state, "", url);
}

/** Add an entry to the browser's history for the next stop of the tour, or for the closed tour, and note both
 * stops in their entries, so that the browser's Back button leads from stop to stop. Does nothing in an
 * embedded figure. @param {Player} player @param {number} before the index of the stop that was shown; −1 if
 * none was @param {number} stop the index of the next stop; −1 if the reader closes the tour */
export function writeStop(player, before, stop) {
  if (!addressed(player)) return;
  writeAddress(player, false);
  history.replaceState({ ...history.state, stop: before }, "");
  history.pushState(further(stop), "");
}

/** Note in the present entry of the browser's history the stop with which a page is opened. Does nothing in
 * an embedded figure. @param {Player} player @param {number} stop the index of the stop; −1 if none is shown
 */
export function noteStop(player, stop) {
  if (addressed(player)) history.replaceState({ ...history.state, stop, depth: 0 }, "");
}
