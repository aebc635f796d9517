// @ts-check
/** What a click on a point does. */

import { marksOf, unpack } from "../engine/engine.mjs";
import { writeAddress } from "./address.mjs";
/** @import { Mark, Replay } from "../engine/recipe.d.ts" */
/** @import { Player } from "./player.mjs" */

/** Handle a click on a point, as the mark's `hand` says: set a choice (`Choose`), play a part of a training
 * (`Replay`), or follow (select) the point, and open the scene that it links to, if any. @param {Player}
 * player @param {Mark} mark @param {number} point */
export function click(player, { hand }, point) {
  if (hand?.kind === "choose") return player.choose({ [hand.choice]: String(unpack(hand.numbers)[point]) });
  if (hand?.kind === "replay") return replay(player, hand, point);
  player.follow(point);
  openFollowed(player);
}

/** Play the event that a point stands for: follow (select) the point and go to the stage that the `Replay`
 * gives for it, if it gives any, and run the clock through the event's part of its range. @param {Player}
 * player @param {Replay} hand @param {number} point the index of the clicked point */
export function replay(player, { spans, follow, progress }, point) {
  const [from, to] = unpack(spans).subarray(2 * point, 2 * point + 2);
  const followed = unpack(follow)[point];
  const stage = unpack(progress)[point];
  if (followed >= 0) player.follow(followed);
  if (stage >= 0) player.seek(stage);
  player.runThrough(from, to);
}

/** Open the scene that the followed (selected) point links to, in the state that the link gives; in a new tab
 * if the figure is embedded. Does nothing if the point has no link. @param {Player} player */
export function openFollowed(player) {
  const { page } = player.root.dataset;
  const link = marksOf(player.recipe)
    .map(({ hand }) => hand)
    .find((hand) => hand?.kind === "open")?.links[player.followed];
  if (!link || !page) return;
  writeAddress(player, false);
  const [slug, query] = link.split("?");
  const url = page.replace("{slug}", slug) + (query ? `?${query}` : "");
  if (player.apart) window.open(url, "_blank", "noopener");
  else location.assign(url);
}
