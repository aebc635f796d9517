// @ts-check
/** The lag between the points of a loose cloud (one whose points need not move together) while a scene plays:
 * each point starts a little later than the point before it. When playing stops, the points catch up. */

import { progresses } from "../engine/engine.mjs";
import { SPREAD_SHARE, CLOSING_MS, apart } from "./motion.mjs";
/** @import { Recipe } from "../engine/engine.mjs" */
/** @import { Leg } from "./motion.mjs" */

export class Parting {
  /** @type {Leg | null} */ #leg = null;
  #lag = 0; // how much later the last point starts than the first, as a share of the leg's duration

  /** Whether some points lag behind others. */
  get open() {
    return this.#leg !== null;
  }

  /** End the lag at once: all points have the same progress. */
  close() {
    this.#leg = null;
  }

  /** Advance the lag by `ms` milliseconds. The lag is constant while the scene plays. Afterwards it shrinks
   * to 0, or ends at once if another move begins. @param {Leg | null} leg the present move between stages;
   * null if there is none @param {boolean} run whether the scene plays @param {number} ms */
  advance(leg, run, ms) {
    if (leg && run) {
      this.#leg = { ...leg };
      this.#lag = SPREAD_SHARE;
    } else if (this.#leg) {
      this.#lag -= (SPREAD_SHARE * ms) / CLOSING_MS;
      if (leg || this.#lag <= 0) this.#leg = null;
    }
  }

  /** The progress of each point of the loose clouds; null if no point lags, so that all points have the same
   * progress. @param {Recipe} recipe */
  progresses(recipe) {
    return this.#leg && progresses(recipe, apart(this.#leg, this.#lag));
  }
}
