// @ts-check
/** Run a scene's clock (the parameter that plays by itself) through its whole range, or through a part of it.
 */

import { clockAfter } from "./motion.mjs";

const PART_SPEED = 3; // to play a part of the range, of any length, takes 1/3 of the time of the whole range

/** @typedef {{min: number, max: number}} Span a range of values of the clock */

export class ClockRun {
  running = false;
  /** the part of the clock's range that is played; null means all @type {Span | null} */ #span = null;

  /** Whether only a part of the clock's range is played. */
  get partial() {
    return this.#span !== null;
  }

  /** Start to run through a part of the clock's range. @param {Span} span */
  start(span) {
    this.#span = span;
    this.running = true;
  }

  /** Stop if the clock runs; otherwise start to run through its whole range. */
  toggle() {
    this.#span = null;
    this.running = !this.running;
  }

  /** The clock's value after it has run for `ms` milliseconds more. At the end of the played range the clock
   * stops (`running` becomes false) or, if `loop`, starts again. @param {Span} all the clock's whole range
   * @param {number} at the clock's present value @param {number} ms @param {boolean} loop */
  advance(all, at, ms, loop) {
    const span = this.#span ?? all;
    const to = clockAfter(span, at, this.#span ? ms * PART_SPEED : ms);
    if (to < span.max) return to;
    if (loop) return span.min;
    this.running = false;
    return to;
  }
}
