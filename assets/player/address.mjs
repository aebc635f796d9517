// @ts-check
/** Write the player's state into the page's address, and the tour's stop into the browser's history. */

import { write } from "./link.mjs";
import { resting } from "./resting.mjs";
/** @import { Player } from "./player.mjs" */

/** Whether the page's address and the browser's history belong to the player: not in an embedded figure, and
 * not once the player is closed or the page has another path. @param {Player} player */
const addressed = ({ apart, closed, path }) => !apart && !closed && location.pathname === path;

/** The data stored in the shown entry of the browser's history. stop: the index of the tour's stop, −1 if the
 * tour is closed; depth: the number of entries since the tour was opened, 0 if a link opened it; at: the
 * entry's number, one more than that of the entry before. */
let shown = { stop: -1, depth: 0, at: 0 };

/** Set `shown` to the data of the next entry of the browser's history. Returns the state to store in that
 * entry. @param {number} [stop] the stop of the next entry; by default the stop of the present entry */
function advance(stop = shown.stop) {
  shown = { stop, depth: shown.stop < 0 ? 1 : shown.depth + 1, at: shown.at + 1 };
  return { ...history.state, ...shown };
}

/** Note to which entry of the browser's history the reader has gone: its data becomes `shown`. Returns this
 * data, and whether the entry is older than the one shown until now (`back`). An entry without data is new
 * (`added`): the browser has made it for a link to a place on the page. It then gets the data of a new entry.
 */
export function arrive() {
  const before = shown.at;
  const added = history.state?.at === undefined;
  if (added) history.replaceState(advance(), "");
  else shown = history.state;
  return { ...shown, back: shown.at < before, added };
}

/** Announce the player's state by the event `normscape:state` on the player's element. On the scene's own
 * page, also write the state into the page's address. For a moving figure, event and address get the state in
 * which the figure will come to rest. The address does not change in an embedded figure, or while a running
 * training is shown. If `push` is false, the address also stays as it is while the player still loads the
 * state that the address names. @param {Player} player @param {boolean} push whether to add an entry to the
 * browser's history, instead of replacing the present one */
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

/** Note in the present entry of the browser's history which stop of the tour is shown, without adding an
 * entry. Does nothing in an embedded figure. @param {Player} player @param {number} stop the index of the
 * stop; −1 if none is shown */
export function noteStop(player, stop) {
  if (!addressed(player)) return;
  shown = { stop, depth: 0, at: history.state?.at ?? shown.at + 1 };
  history.replaceState({ ...history.state, ...shown }, "");
}
