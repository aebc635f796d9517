// @ts-check
/** Compute the state that links contain while the figure moves: the state in which it will come to rest. */

/** @import { Player } from "./player.mjs" */

/** The player's state, with the progress at which its present motion will end. In the opening, when the scene
 * plays by itself for the first time, that progress is the scene's initial progress. If the scene plays
 * later, and not in a loop, it is the last stage. In all other cases, it is the end of the present move to a
 * stage or, without such a move, the present progress. @param {Pick<Player, "state" | "recipe" | "playing" |
 * "opening" | "loop" | "last" | "leg">} player */
export function resting({ state, recipe, playing, opening, loop, last, leg }) {
  const end = leg?.to ?? state.progress;
  const progress = opening ? recipe.progress : playing && !loop ? last : end;
  return { ...state, progress };
}
