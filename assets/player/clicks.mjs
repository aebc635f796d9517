// @ts-check
/** The actions of a click on a point. */

import { unpack } from "../engine/engine.mjs";
import { writeAddress } from "./address.mjs";

/** @typedef {import("./player.mjs").Player} Player */

/** Handle a click on a point: follow it and open what it stands for, or do what the mark's `hand` says.
 * @param {Player} player @param {import("../engine/recipe.d.ts").Mark} mark @param {number} point */
export function click(player, { hand }, point) {
  if (hand?.kind === "choose") return player.choose({ [hand.choice]: String(unpack(hand.numbers)[point]) });
  if (hand?.kind === "replay") return replay(player, hand, point);
  player.follow(point);
  openFollowed(player);
}

/** Follow a point, go to the stage where something happens to it, and run the clock through that span.
 * @param {Player} player @param {import("../engine/recipe.d.ts").Replay} hand @param {number} point */
export function replay(player, { spans, follow, progress }, point) {
  const [from, to] = unpack(spans).subarray(2 * point, 2 * point + 2);
  const followed = unpack(follow)[point];
  const stage = unpack(progress)[point];
  if (followed >= 0) player.follow(followed);
  if (stage >= 0) player.seek(stage);
  player.runThrough(from, to);
}

/** Open the scene that the selected point links to, if it does, in the state that this link gives.
 * @param {Player} player */
export function openFollowed(player) {
  const hands = player.recipe.views.flatMap((view) => view.layers.map((mark) => mark.hand));
  const { page } = player.root.dataset;
  const link = hands.find((hand) => hand?.kind === "open")?.links[player.followed];
  if (!link || !page) return;
  writeAddress(player, false);
  const [slug, query] = link.split("?");
  const url = page.replace("{slug}", slug) + (query ? `?${query}` : "");
  if (player.apart) window.open(url, "_blank", "noopener");
  else location.assign(url);
}
