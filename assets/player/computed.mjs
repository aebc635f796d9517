// @ts-check
/**
 * The computed part of a state: the stages of all clouds, and where their points are in a frame. Long
 * computations are continued frame after frame; until they are done, earlier results are shown.
 *
 * @typedef {import("../engine/engine.mjs").Recipe} Recipe
 * @typedef {import("../engine/engine.mjs").Stages} Stages
 * @typedef {import("../engine/engine.mjs").Progresses} Progresses
 */

import { now, stages } from "../engine/engine.mjs";
import { sliced } from "../engine/time_slices.mjs";

export class Computed {
  #params; // the present ones
  /** @type {Stages} */ #stages = {};
  /** @type {import("../engine/engine.mjs").Memory} */ #memory = new WeakMap();
  /** @type {import("../engine/engine.mjs").Places} */ #there = new WeakMap();
  #moved = false; // whether the recipe or a parameter has changed since the stages were computed
  /** @type {Record<string, Float64Array>} for each cloud, the positions in the last frame */ at = {};
  /** @type {Progresses | null} the progress of each point of some clouds, in the last frame */ each = null;
  /** Whether the last frame shows earlier results of a computation that is under way. */ unfinished = false;

  /** @param {() => {recipe: Recipe, params: Record<string, number>}} params the present ones */
  constructor(params) {
    this.#params = params;
  }

  /** Note that the recipe or a parameter has changed. */
  move() {
    this.#moved = true;
  }

  /** The stages of the last frame, or of newer parameters. @returns {Stages} */
  get stages() {
    if (this.#moved) this.#compute();
    return this.#stages;
  }

  #compute() {
    const { recipe, params } = this.#params();
    this.#stages = stages(recipe, params, this.#memory);
    this.#moved = false;
  }

  /** Compute the positions at a progress. @param {number} progress
   * @param {Progresses | null} each the progress of each point of some clouds */
  place(progress, each) {
    this.each = each;
    this.at = now(this.#params().recipe, this.stages, progress, each, this.#there);
  }

  /** What `draw` returns, which computes as much as there is time for. @template T
   * @param {import("../engine/time_slices.mjs").More | undefined} more undefined: there is time for all
   * @param {() => T} draw @returns {T} */
  within(more, draw) {
    this.#moved ||= this.unfinished;
    const { result, unfinished } = sliced(more, draw);
    this.unfinished = unfinished;
    return result;
  }
}
