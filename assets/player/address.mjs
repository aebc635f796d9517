// @ts-check
/** Write the player's state into the page's address, and the tour's stop into the browser's history. */

import { write } from "./link.mjs";
import { resting } from "./resting.mjs";
/** @import { Player } from "./player.mjs" */

/** Whether the page's address, and so the browser's history, is that of the player. @param {Player} player */
const addressed = ({ apart, closed, path }) => !apart && !closed && location.pathname === path;

/** What the shown entry of the browser's history notes: the stop of the tour, −1 if the tour is closed; the
 * entry's depth in the tour, which is how many entries before it the tour was opened, 0 if a link opened it;
 * and the entry's number, one more than that of the entry before. */
let shown = { stop: -1, depth: 0, at: 0 };

/** Let the shown entry be the one that follows the present one. @param {number} [stop] the stop that it
 * notes; if not given, that of the present entry */
function advance(stop = shown.stop) {
  shown = { stop, depth: shown.stop < 0 ? 1 : shown.depth + 1, at: shown.at + 1 };
  return { ...history.state, ...shown };
}

/** Read what is noted in the entry of the browser's history to which the reader has gone; `back` is whether
 * it comes before the entry shown until now. An entry without notes is new: the reader has followed a link
 * to a place on the page, and the entry gets the notes of a next entry. */
export function arrive() {
  const before = shown.at;
  if (history.state?.at === undefined) history.replaceState(advance(), "");
  else shown = history.state;
  return { ...shown, back: shown.at < before };
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
  if (push) history.pushState(advance(), "", url);
  else history.replaceState(history.state, "", url);
}

/** Add an entry to the browser's history for the next stop of the tour, or for the closed tour, so that the
 * browser's Back button leads from stop to stop. Does nothing in an embedded figure. @param {Player} player
 * @param {number} stop the index of the next stop; −1 if the reader closes the tour */
export function writeStop(player, stop) {
  if (!addressed(player)) return;
  writeAddress(player, false);
  history.pushState(advance(stop), "");
}

/** Note in the present entry of the browser's history the stop with which a page is opened. Does nothing in
 * an embedded figure. @param {Player} player @param {number} stop the index of the stop; −1 if none is shown
 */
export function noteStop(player, stop) {
  if (!addressed(player)) return;
  shown = { stop, depth: 0, at: history.state?.at ?? shown.at + 1 };
  history.replaceState({ ...history.state, ...shown }, "");
}
