// @ts-check
/**
 * Automatic motion: progress from stage to stage, the clock, and camera flights. Pure: functions of time.
 *
 * While a scene plays, points do not move all at once, but start one after the other: each has its own time
 * within a leg, and so its own progress. At both ends of a leg, and whenever the reader takes over, all
 * points have the displayed progress.
 *
 * @typedef {{from: number, to: number, done: number}} Leg of the progress, to a stage; done: its milliseconds
 *   so far
 * @typedef {import("../engine/engine.mjs").Own} Own
 * @typedef {import("../painter/painter.mjs").Camera} Camera
 * @typedef {{from: Camera, to: Camera, done: number}} Flight
 */

// that one frame may advance: when a hidden tab returns, motion goes on where it was
export const MAX_FRAME_MS = 250;
export const FLIGHT_MS = 900;
// of a leg: how much later than the first point the last one starts
export const SPREAD_SHARE = 0.25;
export const CLOSING_MS = 180; // in which the points of a stopped run catch up with each other
const LEG_MS = 1000;
const PAUSE_MS = 350;
const RUN_MS = 12000;
const MAX_OPENING_MS = 6000; // duration of a scene's first run, at most
const STAGE_TOLERANCE = 1e-6; // in stages; nearer than this counts as reached

/** Cubic easing: slow at both ends. @param {number} t from 0 to 1 */
const ease = (t) => (t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2);

/** The next or previous stage, seen from a position between stages. @param {number} progress the position, in
 * stages @param {number} by positive for the next
 * stage, negative for the previous one @param {number} last */
export const stageBeside = (progress, by, last) =>
  Math.max(
    0,
    Math.min(
      last,
      by > 0 ? Math.floor(progress + STAGE_TOLERANCE) + 1 : Math.ceil(progress - STAGE_TOLERANCE) - 1,
    ),
  );

/** The next leg of playing: to the next stage, or from the end back to the beginning.
 * @param {number} progress @param {number} last @returns {Leg} */
export function nextLeg(progress, last) {
  const from = progress >= last ? 0 : progress;
  return { from, to: stageBeside(from, 1, last), done: 0 };
}

/** The duration of a leg in milliseconds. @param {Leg} leg */
const way = ({ from, to }) => LEG_MS * Math.max(0.3, Math.min(2, Math.abs(to - from)));

/** The progress on a leg, eased; a jump for readers who prefer reduced motion. @param {Leg} leg
 * @param {boolean} cut */
export function along(leg, cut) {
  const { from, to, done } = leg;
  if (cut) return done < PAUSE_MS * 2 ? from : to;
  return from + (to - from) * ease(Math.min(1, done / way(leg)));
}

/** The progress of each point on a leg, as a function of its place in its cloud, from 0 to 1.
 * @param {Leg} leg @param {number} lag the share of the leg by which the last point starts later, below 1
 * @returns {Own} */
export function apart(leg, lag) {
  const { from, to, done } = leg;
  const t = Math.min(1, done / way(leg));
  return (part) => from + (to - from) * ease(Math.max(0, Math.min(1, (t - lag * part) / (1 - lag))));
}

/** The speed factor of a scene's first run, through all stages and back to where the scene opens.
 * @param {number} last @param {number} home the progress at which the scene opens */
export const hurry = (last, home) =>
  Math.max(
    1,
    (last * (LEG_MS + PAUSE_MS) + (home < last ? way({ from: last, to: home, done: 0 }) : 0)) /
      MAX_OPENING_MS,
  );

/** Whether a leg is over, including the pause at its stage while playing. @param {Leg} leg
 * @param {boolean} playing */
export const isOver = (leg, playing) => leg.done >= way(leg) + (playing ? PAUSE_MS : 0);

/** The clock's value after some milliseconds. @param {{min: number, max: number}} clock @param {number} value
 * @param {number} ms */
export const clockAfter = ({ min, max }, value, ms) => Math.min(max, value + (ms * (max - min)) / RUN_MS);

/** The camera on its flight. @param {Flight} flight @returns {Camera} */
export function inFlight({ from, to, done }) {
  const f = ease(Math.min(1, done / FLIGHT_MS));
  return { eye: arc(from.eye, to.eye, f), center: arc(from.center, to.center, f) };
}

/** Interpolate from a to b: the direction rotates, the distance changes linearly. @param {number[]} a
 * @param {number[]} b @param {number} f */
function arc(a, b, f) {
  const length = Math.hypot(...a) * (1 - f) + Math.hypot(...b) * f;
  const mixed = a.map((x, i) => x * (1 - f) + b[i] * f);
  const now = Math.hypot(...mixed);
  // the zero vector has no direction
  return now > 1e-9 ? mixed.map((x) => (x * length) / now) : f < 0.5 ? a : b;
}
