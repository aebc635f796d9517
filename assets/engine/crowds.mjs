// @ts-check
/**
 * Crowds: places in a view where several points coincide, up to the size of a grid cell. Mirrors
 * geometry/crowds.py and components/drawing/crowds.py; a test compares them. Pure.
 *
 * @typedef {{place: number[], count: number, cloud: string}} Crowd
 */

import { cloudOf, onlyOf } from "./engine.mjs";
import { opacityOf, pointsOf } from "./shown.mjs";

const CELLS_PER_AXIS = 1000; // points in the same or in neighbouring cells share a place
const CROWD_DIVISOR = 50; // a crowd has 1/50 of all points, and at least 2: fewer meet by chance
// of the longest axis: points of a crowd that are farther from its median in space do not count
const SPACE_REACH_CELLS = 3;
const NEIGHBOURHOOD_CELLS = 12; // radius in which a crowd's neighbours are counted
// of all points so near to those of the crowd: more are part of a curve
const MAX_NEIGHBOUR_RATIO = 1.5;
const DIGIT_WIDTH_EM = 0.62; // upper bound of a digit's width
// a key has room for these cells; the key of a point further out may equal that of another cell
const CELL_KEY_STRIDE = 4 * CELLS_PER_AXIS;

/** The places where many points coincide, the fullest first; places on a curve of points are left out. If
 * the points are a projection, `space` gives point i in the original space: of a place, points that are far
 * from the median of its points in that space are then not counted. @param {ArrayLike<number>} points k
 * numbers for each @param {[number, number][]} ranges the ends of the k axes
 * @param {(i: number) => ArrayLike<number>} [space]
 * @returns {{place: number[], count: number}[]} */
export function crowds(points, ranges, space) {
  const k = ranges.length;
  const reach = (SPACE_REACH_CELLS * Math.max(...ranges.map(([low, high]) => high - low))) / CELLS_PER_AXIS;
  const members = /** @type {Map<number, number[]>} */ (new Map());
  let count = 0;
  for (let i = 0; i < points.length; i += k) {
    let key = 0;
    for (let r = 0; r < k; r++) {
      const [low, high] = ranges[r];
      key =
        key * CELL_KEY_STRIDE +
        Math.floor(((points[i + r] - low) / (high - low)) * CELLS_PER_AXIS) +
        CELLS_PER_AXIS;
    }
    if (!Number.isFinite(key)) continue;
    count++;
    const own = members.get(key);
    if (own) own.push(i);
    else members.set(key, [i]);
  }
  const least = Math.max(2, count / CROWD_DIVISOR);
  const steps = beside(k);
  const full = [...members].filter(([, own]) => own.length > 1).sort(([, a], [, b]) => b.length - a.length);
  const found = full.flatMap(([key]) => {
    const here = steps.flatMap((by) => members.get(key + by) ?? []);
    if (!members.has(key) || here.length < least) return [];
    for (const by of steps) members.delete(key + by);
    const own = space ? together(here, (i) => space(i / k), reach) : here;
    if (own.length < least) return [];
    const place = ranges.map((_, r) => own.reduce((sum, i) => sum + points[i + r], 0) / own.length);
    return near(points, place, ranges) <= MAX_NEIGHBOUR_RATIO * own.length
      ? [{ place, count: own.length }]
      : [];
  });
  return found.sort((a, b) => b.count - a.count);
}

/** The points whose position in space is near the median position. @param {number[]} own
 * @param {(i: number) => ArrayLike<number>} space @param {number} reach */
function together(own, space, reach) {
  const positions = own.map(space);
  const median = Array.from(
    positions[0],
    (_, j) => Float64Array.from(positions, (x) => x[j]).sort()[positions.length >> 1],
  );
  return own.filter((_, i) => median.every((m, j) => Math.abs(positions[i][j] - m) <= reach));
}

/** How many points are within about a mark's size of a place. @param {ArrayLike<number>} points
 * @param {number[]} place @param {[number, number][]} ranges */
function near(points, place, ranges) {
  const k = ranges.length;
  const reach = ranges.map(([low, high]) => ((high - low) * NEIGHBOURHOOD_CELLS) / CELLS_PER_AXIS);
  let count = 0;
  for (let i = 0; i < points.length; i += k) {
    let r = 0;
    while (r < k && Math.abs(points[i + r] - place[r]) <= reach[r]) r++;
    if (r === k) count++;
  }
  return count;
}

/** The differences between a grid cell's key and those of its neighbours and itself, in k dimensions.
 * @param {number} k @returns {number[]} */
const beside = (k) =>
  k ? beside(k - 1).flatMap((by) => [-1, 0, 1].map((step) => by * CELL_KEY_STRIDE + step)) : [0];

/** The crowds whose counts can be written without overlapping an earlier one. @template {{count: number}} C
 * @param {C[]} crowds @param {ArrayLike<number>} at x and y of each crowd, in pixels @param {number} tall the
 * height of the digits in pixels @returns {C[]} */
export function legible(crowds, at, tall) {
  const /** @type {[number, number, number][]} */ taken = [];
  return crowds.filter(({ count }, i) => {
    const x = at[2 * i];
    const y = at[2 * i + 1];
    const wide = DIGIT_WIDTH_EM * tall * (String(count).length + 1);
    if (taken.some(([u, v, w]) => Math.abs(x - u) < Math.max(wide, w) && Math.abs(y - v) < tall))
      return false;
    taken.push([x, y, wide]);
    return true;
  });
}

/** The crowds of each cloud's points in a view, the fullest first. Counts the points that are shown, each
 * where its topmost mark shows it, except highlighted ones. Points of a crowd coincide in their cloud's
 * space, not only in this projection. @param {import("./engine.mjs").View} view
 * @param {import("./engine.mjs").Moment} moment @returns {Crowd[]} */
export function crowdsOf({ layers, dims, ranges }, moment) {
  const taken = /** @type {Map<string, Set<number>>} */ (new Map());
  const shown =
    /**
     * @type {Map<string, {cloud: string, n: number, known: Float64Array[], numbers: number[], points:
     *   number[]}>}
     */
    (new Map());
  for (const mark of [...layers].reverse()) {
    const { cloud, rows } = mark;
    const only = onlyOf(mark);
    const picked = only === "followed" || (only && "kind" in only && only.kind === "highest");
    const n = cloudOf(moment.recipe, cloud).points.shape[0];
    if (mark.mark !== "Points" || picked || n < 2 || !(opacityOf(mark, moment.progress) > 0)) continue;
    const stages = [...new Set(rows.map(({ stage }) => stage))].sort();
    const key = JSON.stringify([cloud, stages]);
    const points = pointsOf(mark, moment);
    const countedPoints = taken.get(cloud) ?? new Set();
    const known = stages.map((stage) => (stage === null ? moment.at[cloud] : moment.stages[cloud][stage]));
    const group = shown.get(key) ?? { cloud, n, known, numbers: [], points: [] };
    for (let i = 0; i < points.length / dims; i++) {
      const index = Array.isArray(only) ? only[i] : i;
      if (countedPoints.has(index) || Number.isNaN(points[i * dims])) continue;
      countedPoints.add(index);
      group.numbers.push(index);
      for (let r = 0; r < dims; r++) group.points.push(points[i * dims + r]);
    }
    taken.set(cloud, countedPoints);
    shown.set(key, group);
  }
  return [...shown.values()]
    .flatMap(({ cloud, n, known, numbers, points }) => {
      const space = (/** @type {number} */ i) =>
        known.flatMap((x) => [...x.subarray((numbers[i] * x.length) / n, ((numbers[i] + 1) * x.length) / n)]);
      return crowds(points, ranges, space).map((crowd) => ({ ...crowd, cloud }));
    })
    .sort((a, b) => b.count - a.count);
}
