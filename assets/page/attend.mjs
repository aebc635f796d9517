// @ts-check
/** The entry point (script) of a page with figures. Every element with a `data-slug` attribute (the name of a
 * scene) gets a `Player`, which is closed when the element is removed or its attribute changes. A key press
 * goes to the player that has the focus; otherwise to the player of the page's own scene, if the page has
 * one. While a dialog is open, key presses go to no player. */

import { shared } from "../globals.mjs";
import { commands } from "./commands.mjs";
import { key } from "./keys.mjs";
import { Player } from "../player/player.mjs";

/** @type {Player[]} */ const players = [];
shared.normscape = { players };

/** Close each player whose element is no longer in the page or shows another scene now, and start a player
 * for each element that has none. */
function attend() {
  for (const player of [...players]) {
    if (player.root.isConnected && player.slug === player.root.dataset.slug) continue;
    player.close();
    players.splice(players.indexOf(player), 1);
  }
  for (const root of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-slug]"))) {
    if (players.some((player) => player.root === root)) continue;
    const player = new Player(root, commands);
    players.push(player);
    player.start();
  }
}

new MutationObserver(attend).observe(document.documentElement, {
  childList: true,
  subtree: true,
  attributeFilter: ["data-slug"],
});
attend();
addEventListener("keydown", (event) => {
  const player =
    players.find((p) => p.root.contains(/** @type {Node} */ (event.target))) ??
    players.find((p) => p.root.matches("main"));
  if (player?.recipe) key(event, player);
});
