// @ts-check
/**
 * Functions of time that describe automatic motion: of the progress from stage to stage, of the clock, and of
 * the camera. Pure.
 *
 * A move from one position between stages to another is called a leg. While a scene plays, the points of
 * loose clouds start one after the other; so each point has its own progress. At both ends of a leg, and soon
 * after the reader has stopped the motion, all points have the progress that the scrubber shows.
 *
 * @typedef {{from: number, to: number, done: number}} Leg a move from one position between stages to another;
 *   done: the milliseconds since its start
 * @typedef {{from: Camera, to: Camera, done: number}} Flight a move of the camera; done: the milliseconds
 *   since its start
 */

/** @import { Own } from "../engine/engine.mjs" */
/** @import { Camera } from "../painter/painter.mjs" */

// a frame advances time by at most this, so that motion continues where it stopped when a hidden tab returns
export const MAX_FRAME_MS = 250;
export const FLIGHT_MS = 900; // duration of a camera flight
// how much later the last point starts than the first, as a share of the leg's duration
export const SPREAD_SHARE = 0.25;
export const CLOSING_MS = 180; // time in which the points catch up with one another after a run is stopped
const LEG_MS = 1000; // duration of a leg of one stage
const PAUSE_MS = 350; // pause at each stage while playing
const RUN_MS = 12000; // duration of a run of the clock through its whole range
const MAX_OPENING_MS = 6000; // longest duration of the opening, in which a scene plays for the first time
const STAGE_TOLERANCE = 1e-6; // in stages; a stage that is nearer than this counts as reached

/** Cubic easing: slow at both ends. @param {number} t from 0 to 1 */
const ease = (t) => (t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2);

/** The next or previous stage, seen from a position between stages, clamped to 0 … `last`.
 * @param {number} progress the position, in stages @param {number} by positive for the next stage, negative
 * for the previous one @param {number} last the index of the last stage */
export const stageBeside = (progress, by, last) =>
  Math.max(
    0,
    Math.min(
      last,
      by > 0 ? Math.floor(progress + STAGE_TOLERANCE) + 1 : Math.ceil(progress - STAGE_TOLERANCE) - 1,
    ),
  );

/** The next leg (move between stages) while a scene plays: from `progress` to the next stage. If `progress`
 * is at the last stage, playing starts again: the leg leads from stage 0 to stage 1. @param {number} progress
 * @param {number} last the index of the last stage @returns {Leg} */
export function nextLeg(progress, last) {
  const from = progress >= last ? 0 : progress;
  return { from, to: stageBeside(from, 1, last), done: 0 };
}

/** The duration of a leg (a move between stages) in milliseconds: LEG_MS per stage; at least 0.3 LEG_MS, and
 * at most 2 LEG_MS. @param {Leg} leg */
const legDuration = ({ from, to }) => LEG_MS * Math.max(0.3, Math.min(2, Math.abs(to - from)));

/** The present position (progress) on a leg, a move between stages. It changes slowly at both ends of the
 * leg. @param {Leg} leg @param {boolean} cut whether the progress jumps to the end after a pause instead, for
 * readers who prefer reduced motion */
export function along(leg, cut) {
  const { from, to, done } = leg;
  if (cut) return done < PAUSE_MS * 2 ? from : to;
  return from + (to - from) * ease(Math.min(1, done / legDuration(leg)));
}

/** The present progress of each point on a leg (a move between stages), if the points start one after the
 * other. Returns a function that takes the point's place in its cloud's order, from 0 (first) to 1 (last),
 * and returns the point's progress. @param {Leg} leg @param {number} lag how much later the last point starts
 * than the first, as a share of the leg's duration, below 1 @returns {Own} */
export function apart(leg, lag) {
  const { from, to, done } = leg;
  const t = Math.min(1, done / legDuration(leg));
  return (part) => from + (to - from) * ease(Math.max(0, Math.min(1, (t - lag * part) / (1 - lag))));
}

/** The smallest speed factor, at least 1, at which the opening takes at most MAX_OPENING_MS. The opening
 * plays all stages, then moves back to the recipe's initial progress. @param {number} last the index of the
 * last stage @param {number} home the recipe's initial progress */
export const hurry = (last, home) =>
  Math.max(
    1,
    (last * (LEG_MS + PAUSE_MS) + (home < last ? legDuration({ from: last, to: home, done: 0 }) : 0)) /
      MAX_OPENING_MS,
  );

/** Whether a leg (a move between stages) is over. While the scene plays, the pause after the leg counts as
 * part of it. @param {Leg} leg @param {boolean} playing whether the scene plays */
export const isOver = (leg, playing) => leg.done >= legDuration(leg) + (playing ? PAUSE_MS : 0);

/** The clock's value after it has run for `ms` milliseconds more, at most its maximum. @param {{min: number,
 * max: number}} clock @param {number} value its present value @param {number} ms */
export const clockAfter = ({ min, max }, value, ms) => Math.min(max, value + (ms * (max - min)) / RUN_MS);

/** The camera on a flight that began `done` milliseconds ago. @param {Flight} flight @returns {Camera} */
export function inFlight({ from, to, done }) {
  const f = ease(Math.min(1, done / FLIGHT_MS));
  return { eye: arc(from.eye, to.eye, f), center: arc(from.center, to.center, f) };
}

/** Interpolate between two vectors: the direction turns from that of a to that of b, and the length changes
 * linearly. If the linear mixture is 0 and so has no direction, the result is a for f < 0.5, otherwise b.
 * @param {number[]} a @param {number[]} b @param {number} f from 0 (a) to 1 (b) */
function arc(a, b, f) {
  const length = Math.hypot(...a) * (1 - f) + Math.hypot(...b) * f;
  const mixed = a.map((x, i) => x * (1 - f) + b[i] * f);
  const now = Math.hypot(...mixed);
  // the zero vector has no direction
  return now > 1e-9 ? mixed.map((x) => (x * length) / now) : f < 0.5 ? a : b;
}
