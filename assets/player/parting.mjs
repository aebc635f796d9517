// @ts-check
/** The lag between the points of a loose cloud while a scene plays: each point starts a little later than the
 * one before. When a run is stopped, the points catch up with one another. */

import { progresses } from "../engine/engine.mjs";
import { SPREAD_SHARE, CLOSING_MS, apart } from "./motion.mjs";
/** @import { Recipe } from "../engine/engine.mjs" */
/** @import { Leg } from "./motion.mjs" */

export class Parting {
  /** @type {Leg | null} */ #leg = null;
  #lag = 0; // how much later the last point starts than the first, as a share of the leg's duration

  /** Whether points are apart. */
  get open() {
    return this.#leg !== null;
  }

  /** Bring all points together at once. */
  close() {
    this.#leg = null;
  }

  /** Advance the lag by some time: constant during a run, shrinking after it. @param {Leg | null} leg the
   * present leg, if any @param {boolean} run whether the leg belongs to a run @param {number} ms */
  advance(leg, run, ms) {
    if (leg && run) {
      this.#leg = { ...leg };
      this.#lag = SPREAD_SHARE;
    } else if (this.#leg) {
      this.#lag -= (SPREAD_SHARE * ms) / CLOSING_MS;
      if (leg || this.#lag <= 0) this.#leg = null;
    }
  }

  /** The progress of each point of the loose clouds while points are apart; null while all points have the
   * same progress. @param {Recipe} recipe */
  progresses(recipe) {
    return this.#leg && progresses(recipe, apart(this.#leg, this.#lag));
  }
}
