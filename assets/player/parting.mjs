// @ts-check
/** How far the points of a run are apart: the last is behind the first, and when the run has stopped they
 * come together where it is. */

import { progresses } from "../engine/engine.mjs";
import { SPREAD_SHARE, CLOSING_MS, apart } from "./motion.mjs";

export class Parting {
  /** @type {import("./motion.mjs").Leg | null} */ #leg = null;
  #lag = 0; // how much of its leg the last point is behind the first

  /** Whether points are apart. */
  get open() {
    return this.#leg !== null;
  }

  /** All points are together at once. */
  close() {
    this.#leg = null;
  }

  /** Time passes. @param {import("./motion.mjs").Leg | null} leg that is under way @param {boolean} run
   * whether it is one of a run @param {number} ms */
  advance(leg, run, ms) {
    if (leg && run) {
      this.#leg = { ...leg };
      this.#lag = SPREAD_SHARE;
    } else if (this.#leg) {
      this.#lag -= (SPREAD_SHARE * ms) / CLOSING_MS;
      if (leg || this.#lag <= 0) this.#leg = null;
    }
  }

  /** The progress of each point, where they are apart. @param {import("../engine/engine.mjs").Recipe} recipe
   */
  progresses(recipe) {
    return this.#leg && progresses(recipe, apart(this.#leg, this.#lag));
  }
}
