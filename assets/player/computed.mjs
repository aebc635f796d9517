// @ts-check
/**
 * The computed part of a player's state: the points of all clouds (sets of points) at every stage, and their
 * positions in the most recently drawn frame. A long computation is spread over several frames; until it is
 * complete, its previous results are shown.
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
  /** @type {Record<string, Float64Array>} each cloud's points in the newest drawn frame */ at = {};
  /** @type {Progresses | null} each point's progress in that frame; null: all equal */ each = null;
  /** Whether the newest drawn frame shows results of a previous computation. */ unfinished = false;

  /** @param {() => {recipe: Recipe, params: Record<string, number>}} params returns the present recipe and
   * parameters */
  constructor(params) {
    this.#params = params;
  }

  /** Note that the recipe or a parameter has changed. The stages are then computed anew when they are next
   * read. */
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

  /** Compute the present positions of the points of all clouds, and store them in `at`. @param {number}
   * progress from 0 to the number of steps; 1.5 is half way from stage 1 to stage 2 @param {Progresses |
   * null} each for each loose cloud (whose points may start to move at different times), the progress of each
   * point; null if all points have the same progress */
  place(progress, each) {
    this.each = each;
    this.at = now(this.#params().recipe, this.stages, progress, each, this.#there);
  }

  /** Run the function `draw`, which draws a frame, and return its result. If the frame has no time left, long
   * computations in `draw` stop, and the next call of `within` continues them (time_slices.mjs). @template T
   * @param {More | undefined} more tells whether the frame has time left; undefined: it always has @param {()
   * => T} draw @returns {T} */
  within(more, draw) {
    this.#moved ||= this.unfinished;
    const { result, unfinished } = sliced(more, draw);
    this.unfinished = unfinished;
    return result;
  }
}
