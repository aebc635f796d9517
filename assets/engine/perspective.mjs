// @ts-check
/** How an eye sees space: central projection, as geometry/perspective.py has it, and how far the axes of a view go. Pure. */

const SIGHT = Math.tan(Math.PI / 8); // what Plotly's perspective sees at distance 1, each way
const NEAREST = 1e-3; // what is nearer than this, or behind the eye, counts as so near

/** @param {number[]} a @param {number[]} b */
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** How many times as wide as its ranges the axes of a view are: at each stage as it says, straight between them.
 * @param {{room: number[]}} view @param {number} progress */
export function roomOf({ room }, progress) {
  const k = Math.min(Math.floor(progress), room.length - 1), next = Math.min(k + 1, room.length - 1), f = progress - k;
  return room.length ? (1 - f) * room[k] + f * room[next] : 1;
}

/** Ranges so many times as wide, around the same middles. @param {[number, number][]} ranges @param {number} room
 * @returns {[number, number][]} */
export const widened = (ranges, room) => (room === 1 ? ranges
  : ranges.map(([low, high]) => [(low + high - room * (high - low)) / 2, (low + high + room * (high - low)) / 2]));

/** Where points of a 3D view are in a panel, in pixels from its left top; gaps stay.
 * @param {Float32Array} points interleaved @param {[number, number][]} ranges @param {{eye: number[], center: number[]}} camera
 * @param {number} width @param {number} height @returns {Float32Array} x and y of each */
export function flat(points, ranges, { eye, center }, width, height) {
  const way = eye.map((e, i) => center[i] - e), far = Math.hypot(...way), forward = way.map((w) => w / far);
  const across = Math.hypot(forward[0], forward[1]), right = across > 0 ? [forward[1] / across, -forward[0] / across, 0] : [1, 0, 0];
  const up = [right[1] * forward[2], -right[0] * forward[2], right[0] * forward[1] - right[1] * forward[0]];
  const unit = Math.min(width, height) / 2 / SIGHT, out = new Float32Array((points.length / 3) * 2);
  for (let i = 0; i < points.length / 3; i++) {
    const from = ranges.map(([low, high], r) => (points[3 * i + r] - low) / (high - low) - 0.5 - eye[r]);
    const scale = unit / Math.max(dot(from, forward), NEAREST);
    out[2 * i] = width / 2 + dot(from, right) * scale;
    out[2 * i + 1] = height / 2 - dot(from, up) * scale;
  }
  return out;
}
