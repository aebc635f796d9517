// @ts-check
/** Write the player's state into the page's address. */

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
