// @ts-check
/**
 * The computed part of a player's state: the points of all clouds at every stage, and their positions in the
 * drawn frame. Long computations are continued frame after frame; until they are complete, earlier results
 * are shown.
 */

import { now, stages } from "../engine/engine.mjs";
import { sliced } from "../engine/time_slices.mjs";
/** @import { Memory, Places, Progresses, Recipe, Stages } from "../engine/engine.mjs" */
/** @import { More } from "../engine/time_slices.mjs" */

export class Computed {
  #params; // a function that returns the present recipe and parameters
  /** @type {Stages} */ #stages = {};
  /** @type {Memory} */ #memory = new WeakMap();
  /** @type {Places} */ #there = new WeakMap();
  #moved = false; // whether the recipe or a parameter has changed since the stages were computed
  /** @type {Record<string, Float64Array>} the points of each cloud in the drawn frame */ at = {};
  /** @type {Progresses | null} each point's progress in the drawn frame, if they differ */ each = null;
  /** Whether the drawn frame shows earlier results of a computation that is under way. */ unfinished = false;

  /** @param {() => {recipe: Recipe, params: Record<string, number>}} params the present ones */
  constructor(params) {
    this.#params = params;
  }

  /** Note that the recipe or a parameter has changed. */
  move() {
    this.#moved = true;
  }

  /** The points of all clouds at every stage, for the present parameters. @returns {Stages} */
  get stages() {
    if (this.#moved) this.#compute();
    return this.#stages;
  }

  #compute() {
    const { recipe, params } = this.#params();
    this.#stages = stages(recipe, params, this.#memory);
    this.#moved = false;
  }

  /** Compute the positions of all points at a position between stages. @param {number} progress in stages
   * @param {Progresses | null} each for clouds whose points do not move together, the progress of each point
   */
  place(progress, each) {
    this.each = each;
    this.at = now(this.#params().recipe, this.stages, progress, each, this.#there);
  }

  /** Run `draw`, in which long computations may stop when there is no more time (time_slices.mjs), and return
   * its result. @template T @param {More | undefined} more whether there is time; undefined: always
   * @param {() => T} draw @returns {T} */
  within(more, draw) {
    this.#moved ||= this.unfinished;
    const { result, unfinished } = sliced(more, draw);
    this.unfinished = unfinished;
    return result;
  }
}
