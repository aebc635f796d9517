// @ts-check
/** The run of a scene's clock, the parameter that plays by itself: over its whole range, or a part of it. */

import { clockAfter } from "./motion.mjs";

const PART_SPEED = 3; // a part of the range, of any length, takes 1/3 of the time of the whole range

/** @typedef {{min: number, max: number}} Span */

export class ClockRun {
  running = false;
  /** the part of the clock's range that is played; null means all @type {Span | null} */ #span = null;

  /** Whether only a part of the range is played. */
  get partial() {
    return this.#span !== null;
  }

  /** Run through a part of the range. @param {Span} span */
  start(span) {
    this.#span = span;
    this.running = true;
  }

  /** Run through the whole range, or stop. */
  toggle() {
    this.#span = null;
    this.running = !this.running;
  }

  /** The clock's value after some time; at the end of the played range it stops, or, if `loop`, starts again.
   * @param {Span} all the clock's whole range @param {number} at its present value @param {number} ms
   * @param {boolean} loop */
  advance(all, at, ms, loop) {
    const span = this.#span ?? all;
    const to = clockAfter(span, at, this.#span ? ms * PART_SPEED : ms);
    if (to < span.max) return to;
    if (loop) return span.min;
    this.running = false;
    return to;
  }
}
