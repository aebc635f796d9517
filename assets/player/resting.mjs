// @ts-check
/** Compute the state that links contain while the figure moves: the state in which it will come to rest. */

/** @import { Player } from "./player.mjs" */

/** The player's state, with the progress at which its present motion will end. This is the last stage if the
 * figure plays, but the scene's initial progress if it plays by itself for the first time. It is the end of
 * the present move between two stages if the figure plays in a loop, or makes such a move without playing. If
 * nothing moves, it is the present progress. @param {Pick<Player, "state" | "recipe" | "playing" | "opening"
 * | "loop" | "last" | "leg">} player */
export function resting({ state, recipe, playing, opening, loop, last, leg }) {
  const end = leg?.to ?? state.progress;
  const progress = opening ? recipe.progress : playing && !loop ? last : end;
  return { ...state, progress };
}
