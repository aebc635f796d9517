// @ts-check
/** The run of a scene's clock, through all of its way or a part of it. */

import { clockAfter } from "./motion.mjs";

const PART_SPEED = 3; // times as fast as all of its way the clock runs through a part of it

/** @typedef {{min: number, max: number}} Span */

export class ClockRun {
  running = false;
  /** @type {Span | null} a part of the clock's way that is played, else all of it */ #span = null;

  /** Whether only a part of the way is played. */
  get partial() {
    return this.#span !== null;
  }

  /** Through a part of the way. @param {Span} span */
  start(span) {
    this.#span = span;
    this.running = true;
  }

  /** Through all of the way, or stand still. */
  toggle() {
    this.#span = null;
    this.running = !this.running;
  }

  /** Where the clock is when time has passed; it stops at the end, unless it begins again. @param {Span} all
   * @param {number} at @param {number} ms @param {boolean} loop */
  advance(all, at, ms, loop) {
    const span = this.#span ?? all;
    const to = clockAfter(span, at, this.#span ? ms * PART_SPEED : ms);
    if (to < span.max) return to;
    if (loop) return span.min;
    this.running = false;
    return to;
  }
}
