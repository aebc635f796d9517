// @ts-check
/**
 * Motion by itself, as functions of time: of the progress from stage to stage, of the clock, and of the
 * camera. Pure.
 *
 * The way to a stage is called a leg. While a scene plays, the points of loose clouds do not all move at
 * once, but start one after the other; so each has its own progress. At both ends of a leg, and when the
 * reader takes over, all points have the progress that the scrubber shows.
 *
 * @typedef {{from: number, to: number, done: number}} Leg from one position between stages to another; done:
 *   the milliseconds since its start
 * @typedef {{from: Camera, to: Camera, done: number}} Flight of the camera; done: the milliseconds since its
 * start
 */

/** @import { Own } from "../engine/engine.mjs" */
/** @import { Camera } from "../painter/painter.mjs" */

// a frame advances time by no more than this, so that motion goes on where it was when a hidden tab returns
export const MAX_FRAME_MS = 250;
export const FLIGHT_MS = 900; // duration of a camera flight
// how much later than the first point the last one starts, as a share of the leg's duration
export const SPREAD_SHARE = 0.25;
export const CLOSING_MS = 180; // time in which the points catch up with one another after a run is stopped
const LEG_MS = 1000; // duration of a leg of one stage
const PAUSE_MS = 350; // pause at each stage while playing
const RUN_MS = 12000; // duration of a run of the clock through its whole range
const MAX_OPENING_MS = 6000; // duration of a scene's first run, at most
const STAGE_TOLERANCE = 1e-6; // in stages; nearer than this counts as reached

/** Cubic easing: slow at both ends. @param {number} t from 0 to 1 */
const ease = (t) => (t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2);

/** The next or previous whole stage, seen from the position `progress`, clamped to 0 … `last`. @param
 * {number} progress the position, in stages @param {number} by positive for the next stage, negative for the
 * previous one @param {number} last */
export const stageBeside = (progress, by, last) =>
  Math.max(
    0,
    Math.min(
      last,
      by > 0 ? Math.floor(progress + STAGE_TOLERANCE) + 1 : Math.ceil(progress - STAGE_TOLERANCE) - 1,
    ),
  );

/** The next leg while a scene plays: to the next stage; at the end, from the first stage to the second.
 * @param {number} progress @param {number} last @returns {Leg} */
export function nextLeg(progress, last) {
  const from = progress >= last ? 0 : progress;
  return { from, to: stageBeside(from, 1, last), done: 0 };
}

/** The duration of a leg in milliseconds: LEG_MS per stage, within limits. @param {Leg} leg */
const way = ({ from, to }) => LEG_MS * Math.max(0.3, Math.min(2, Math.abs(to - from)));

/** The present progress on a leg, slow at both ends. @param {Leg} leg @param {boolean} cut whether it jumps
 * to the end after a pause instead, for readers who prefer reduced motion */
export function along(leg, cut) {
  const { from, to, done } = leg;
  if (cut) return done < PAUSE_MS * 2 ? from : to;
  return from + (to - from) * ease(Math.min(1, done / way(leg)));
}

/** The present progress of each point on a leg, if the points start one after the other: a function of the
 * point's place in its cloud's order, from 0 (first) to 1 (last). @param {Leg} leg @param {number} lag the
 * share of the leg by which the last point starts later, below 1 @returns {Own} */
export function apart(leg, lag) {
  const { from, to, done } = leg;
  const t = Math.min(1, done / way(leg));
  return (part) => from + (to - from) * ease(Math.max(0, Math.min(1, (t - lag * part) / (1 - lag))));
}

/** The factor by which a scene's first run, through all stages and back to where the scene opens, is faster
 * than usual, so that it takes at most MAX_OPENING_MS. @param {number} last @param {number} home the progress
 * at which the scene opens */
export const hurry = (last, home) =>
  Math.max(
    1,
    (last * (LEG_MS + PAUSE_MS) + (home < last ? way({ from: last, to: home, done: 0 }) : 0)) /
      MAX_OPENING_MS,
  );

/** Whether a leg is over; while playing, including the pause at its end. @param {Leg} leg
 * @param {boolean} playing */
export const isOver = (leg, playing) => leg.done >= way(leg) + (playing ? PAUSE_MS : 0);

/** The clock's value after some milliseconds of running; its maximum at the end. @param {{min: number, max:
 * number}} clock @param {number} value its present value @param {number} ms */
export const clockAfter = ({ min, max }, value, ms) => Math.min(max, value + (ms * (max - min)) / RUN_MS);

/** The present camera on a flight. @param {Flight} flight @returns {Camera} */
export function inFlight({ from, to, done }) {
  const f = ease(Math.min(1, done / FLIGHT_MS));
  return { eye: arc(from.eye, to.eye, f), center: arc(from.center, to.center, f) };
}

/** Interpolate between two vectors: the direction turns from that of a to that of b, and the length changes
 * linearly. @param {number[]} a @param {number[]} b @param {number} f from 0 (a) to 1 (b) */
function arc(a, b, f) {
  const length = Math.hypot(...a) * (1 - f) + Math.hypot(...b) * f;
  const mixed = a.map((x, i) => x * (1 - f) + b[i] * f);
  const now = Math.hypot(...mixed);
  // the zero vector has no direction
  return now > 1e-9 ? mixed.map((x) => (x * length) / now) : f < 0.5 ? a : b;
}
