// @ts-check
/** How an eye sees space: central projection, as geometry/perspective.py has it, and how far the axes of a
 * view go. Pure. */

const SIGHT = Math.tan(Math.PI / 8); // what Plotly's perspective sees at distance 1, each way
const NEAREST = 1e-3; // what is nearer than this, or behind the eye, counts as so near

/** @param {number[]} a @param {number[]} b */
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** @type {number[]} as wide as ranges, and in their middle */ export const SAME = [1];

/** @typedef {{parameter: string, log: boolean, stops: number[], zooms: number[][][]}} Wider what a parameter
 * does at each of its stops, by stage */
/** @typedef {{ranges: unknown[], zooms: number[][], wider: Wider[]}} View */

/** What a parameter does at a stage: straight between its stops, and as at the last ones beyond.
 * @param {Wider} wider @param {number} stage @param {number} value */
function pushed({ log, stops, zooms }, stage, value) {
  const k = Math.max(
    0,
    Math.min(
      stops.findLastIndex((stop) => stop <= value),
      stops.length - 2,
    ),
  );
  const within = Math.max(stops[0], Math.min(value, stops[stops.length - 1]));
  const [low, high, here] = [stops[k], stops[k + 1], within].map((x) => (log ? Math.log(x) : x));
  const there = zooms[k + 1][stage];
  return zooms[k][stage].map((x, i) => x + ((here - low) / (high - low)) * (there[i] - x));
}

/**
 * @type {WeakMap<View, {params: Record<string, number>, rows: number[][]}>} of each stage, with the
 *   parameters that were asked for last
 */
const latest = new WeakMap();

/** The axes at one stage. @param {View} view @param {number} stage @param {Record<string, number>} params */
function rowOf(view, stage, params) {
  let known = latest.get(view);
  if (known?.params !== params) latest.set(view, (known = { params, rows: [] }));
  return (known.rows[stage] ??= combined(view, stage, params));
}

/** @param {View} view @param {number} stage @param {Record<string, number>} params */
function combined({ ranges, zooms, wider }, stage, params) {
  const [times, ...by] = zooms[stage] ?? SAME;
  const more = wider.map((each) => pushed(each, stage, params[each.parameter]));
  return [
    times * (more.length ? Math.max(...more.map((each) => each[0])) : 1),
    ...ranges.map((_, r) => more.reduce((sum, each) => sum + each[r + 1], by[r] ?? 0)),
  ];
}

/** How many times as wide as its ranges the axes of a view are, and how far their middle is moved along each:
 * at each stage as it says, and as sliders need, of which the widest counts; between two stages they move
 * evenly, widen in the first half of the way, and narrow in the second, so that what is on its way stays
 * whole. @param {View} view @param {number} progress @param {Record<string, number>} params
 * @returns {number[]} */
export function zoomOf(view, progress, params) {
  const stages = view.zooms.length || view.wider[0]?.zooms[0].length;
  if (!stages) return SAME;
  const k = Math.min(Math.floor(progress), stages - 1);
  const past = progress - k;
  const here = rowOf(view, k, params);
  const next = rowOf(view, Math.min(k + 1, stages - 1), params);
  const times = next[0] > here[0] ? Math.min(2 * past, 1) : Math.max(2 * past - 1, 0);
  return here.map((x, i) => x + (i ? past : times) * (next[i] - x));
}

/** Ranges so many times as wide, and moved. @param {[number, number][]} ranges @param {number[]} zooms
 * @returns {[number, number][]} */
export const widened = (ranges, [times, ...by]) =>
  times === 1 && !by.some(Boolean)
    ? ranges
    : ranges.map(([low, high], r) => {
        const middle = (low + high) / 2 + (by[r] ?? 0);
        const half = (times * (high - low)) / 2;
        return [middle - half, middle + half];
      });

/** Where points of a 3D view are in a panel, in pixels from its left top; gaps stay.
 * @param {Float32Array} points interleaved @param {[number, number][]} ranges
 * @param {{eye: number[], center: number[]}} camera @param {number} width @param {number} height
 * @returns {Float32Array} x and y of each */
export function flat(points, ranges, { eye, center }, width, height) {
  const way = eye.map((e, i) => center[i] - e);
  const far = Math.hypot(...way);
  const forward = way.map((w) => w / far);
  const across = Math.hypot(forward[0], forward[1]);
  const right = across > 0 ? [forward[1] / across, -forward[0] / across, 0] : [1, 0, 0];
  const up = [right[1] * forward[2], -right[0] * forward[2], right[0] * forward[1] - right[1] * forward[0]];
  const unit = Math.min(width, height) / 2 / SIGHT;
  const out = new Float32Array((points.length / 3) * 2);
  for (let i = 0; i < points.length / 3; i++) {
    const from = ranges.map(([low, high], r) => (points[3 * i + r] - low) / (high - low) - 0.5 - eye[r]);
    const scale = unit / Math.max(dot(from, forward), NEAREST);
    out[2 * i] = width / 2 + dot(from, right) * scale;
    out[2 * i + 1] = height / 2 - dot(from, up) * scale;
  }
  return out;
}
