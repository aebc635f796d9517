// @ts-check
/** The lag between points while a scene plays: the last point is behind the first; after a run they catch up.
 */

import { progresses } from "../engine/engine.mjs";
import { SPREAD_SHARE, CLOSING_MS, apart } from "./motion.mjs";

export class Parting {
  /** @type {import("./motion.mjs").Leg | null} */ #leg = null;
  #lag = 0; // the share of the leg by which the last point lags behind

  /** Whether some points lag behind. */
  get open() {
    return this.#leg !== null;
  }

  /** Bring all points together at once. */
  close() {
    this.#leg = null;
  }

  /** Advance the lag by some time. @param {import("./motion.mjs").Leg | null} leg the present leg, if any
   * @param {boolean} run whether the leg belongs to a run @param {number} ms */
  advance(leg, run, ms) {
    if (leg && run) {
      this.#leg = { ...leg };
      this.#lag = SPREAD_SHARE;
    } else if (this.#leg) {
      this.#lag -= (SPREAD_SHARE * ms) / CLOSING_MS;
      if (leg || this.#lag <= 0) this.#leg = null;
    }
  }

  /** The progress of each point while points are apart. @param {import("../engine/engine.mjs").Recipe} recipe
   */
  progresses(recipe) {
    return this.#leg && progresses(recipe, apart(this.#leg, this.#lag));
  }
}
