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

  /** Compute the positions (`at`) of the points of all clouds at `progress`. @param {number} progress the
   * position between stages, in stages @param {Progresses | null} each the progress of each point of the
   * clouds whose points do not move together; null if all points move together */
  place(progress, each) {
    this.each = each;
    this.at = now(this.#params().recipe, this.stages, progress, each, this.#there);
  }

  /** Run the function `draw`, which draws a frame, and return its result. Long computations in it stop when
   * `more` says that the frame has no more time (time_slices.mjs), and the next call of `within` continues
   * them. @template T @param {More | undefined} more tells whether there is time; undefined: there is always
   * time @param {() => T} draw @returns {T} */
  within(more, draw) {
    this.#moved ||= this.unfinished;
    const { result, unfinished } = sliced(more, draw);
    this.unfinished = unfinished;
    return result;
  }
}
