// @ts-check
/** Write the player's state into the page's address. */

/** Announce the state with the event `normscape:state`, and on the scene's own page write it into the
 * address. @param {import("./player.mjs").Player} player @param {boolean} push whether to add an entry to the
 * history */
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
