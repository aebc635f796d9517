// @ts-check
/** Handle clicks on points of the figure. */

import { marksOf, unpack } from "../engine/engine.mjs";
import { writeAddress } from "./address.mjs";
/** @import { Mark, Replay } from "../engine/recipe.d.ts" */
/** @import { Player } from "./player.mjs" */

/** Handle a click on a point, as the `hand` (action) of its mark says: set a choice (`Choose`) or play a part
 * of a training (`Replay`). With any other hand, follow (select) the point, and open the scene to which the
 * point links, if any. @param {Player} player @param {Mark} mark @param {number} point the point's index */
export function click(player, { hand }, point) {
  if (hand?.kind === "choose") return player.choose({ [hand.choice]: String(unpack(hand.numbers)[point]) });
  if (hand?.kind === "replay") return replay(player, hand, point);
  player.follow(point);
  openFollowed(player);
}

/** Play the part of a training that a clicked point stands for: follow (select) a point, go to a stage, and
 * run the clock through a part of its range. The `Replay` has these three for each point that can be clicked.
 * −1 for the point to follow, or for the stage, means that there is none. @param {Player} player @param
 * {Replay} hand @param {number} point the index of the clicked point */
export function replay(player, { spans, follow, progress }, point) {
  const [from, to] = unpack(spans).subarray(2 * point, 2 * point + 2);
  const followed = unpack(follow)[point];
  const stage = unpack(progress)[point];
  if (followed >= 0) player.follow(followed);
  if (stage >= 0) player.seek(stage);
  player.runThrough(from, to);
}

/** Open the scene to which the followed (selected) point links, in the state that the link gives. If the
 * figure is embedded, the scene opens in a new tab. Does nothing if the point has no link. @param {Player}
 * player */
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
