// @ts-check
/**
 * Crowds: places in a view where several points are drawn on top of one another, so that a label must say how
 * many. The view is divided into a grid; points in the same cell or in neighbouring cells count as
 * coinciding. The player's state finds the crowds of a view by `crowdsOf`; the painter labels those for which
 * there is room (`legible`). Mirrors geometry/crowds.py and components/drawing/crowds.py; a test compares
 * them. Pure.
 *
 * @typedef {{place: number[], count: number, cloud: string}} Crowd the display coordinates of the place, the
 *   number of points there, and the name of their cloud
 */

import { onlyOf, sizeOf } from "./engine.mjs";
import { opacityOf, pointsOf } from "./shown.mjs";
/** @import { Moment, View } from "./engine.mjs" */

const CELLS_PER_AXIS = 1000; // grid cells; points in the same or in neighbouring cells count as coinciding
// a crowd has at least 1/50 of all points, and at least 2; fewer points may coincide by chance
const CROWD_DIVISOR = 50;
// Points at the same place of a projection can be far apart in the space that is projected. A point counts
// only if each of its coordinates in that space differs from the median of the place's points by at most this
// many grid cells. A grid cell is 1/CELLS_PER_AXIS of the view's longest axis.
const SPACE_REACH_CELLS = 3;
// half the width, in grid cells, of the box around a crowd in which other points are counted
const NEIGHBOURHOOD_CELLS = 12;
// The most points that may lie in the box of `near` around a crowd, as a multiple of the crowd's own number
// of points. If more lie there, the crowd is a part of a curve of points, and gets no label.
const MAX_NEIGHBOUR_RATIO = 1.5;
const DIGIT_WIDTH_EM = 0.62; // upper bound of a digit's width
// The key of a grid cell is a number to this base, whose digits are the indices of the cell along the axes.
// Points far outside the ranges can get the key of another cell.
const CELL_KEY_STRIDE = 4 * CELLS_PER_AXIS;

/** The places in a view where many points coincide, the one with most points first. place: the mean of the
 * points there; count: their number. A place with many other points close by is left out, because it is part
 * of a dense row of points. If the points are a projection, `space(i)` returns point i in the space that is
 * projected. Then a point is counted only if it is also near the median of the place's points in that space
 * (SPACE_REACH_CELLS). @param {ArrayLike<number>} points k numbers for each, NaN for points that are not
 * shown @param {[number, number][]} ranges the ends of the k axes
 * @param {(i: number) => ArrayLike<number>} [space] @returns {{place: number[], count: number}[]} */
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
  const steps = neighbourKeyOffsets(k);
  const full = [...members].filter(([, own]) => own.length > 1).sort(([, a], [, b]) => b.length - a.length);
  const places = full.flatMap(([key]) => {
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
  return places.sort((a, b) => b.count - a.count);
}

/** The points of a crowd that are near the median of the crowd's points, in the space that the view projects:
 * each coordinate differs from the median of that coordinate by at most `reach`. @param {number[]} own the
 * indices of the crowd's points @param {(i: number) => ArrayLike<number>} space the position of a point
 * @param {number} reach @returns {number[]} their indices */
function together(own, space, reach) {
  const positions = own.map(space);
  const median = Array.from(
    positions[0],
    (_, j) => Float64Array.from(positions, (x) => x[j]).sort()[positions.length >> 1],
  );
  return own.filter((_, i) => median.every((m, j) => Math.abs(positions[i][j] - m) <= reach));
}

/** The number of points in a box around a place, in display coordinates. The box reaches NEIGHBOURHOOD_CELLS
 * to each side, so that it is about as large as a drawn point. @param {ArrayLike<number>} points k numbers
 * for each @param {number[]} place the middle of the box @param {[number, number][]} ranges the ends of the k
 * axes */
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

/** The 3ᵏ numbers that, added to the key of a grid cell in k dimensions (CELL_KEY_STRIDE), give the keys of
 * this cell and of its neighbours, diagonal ones included. @param {number} k @returns {number[]} */
const neighbourKeyOffsets = (k) =>
  k ? neighbourKeyOffsets(k - 1).flatMap((by) => [-1, 0, 1].map((step) => by * CELL_KEY_STRIDE + step)) : [0];

/** The crowds whose counts can be written as labels: in the order of the list, each crowd whose label does
 * not overlap a label that is already kept. @template {{count: number}} C @param {C[]} crowds @param
 * {ArrayLike<number>} at x and y of each crowd, in pixels @param {number} tall the height of the digits in
 * pixels @returns {C[]} */
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

/** The crowds of a view, the fullest first. All points of a crowd belong to one cloud. They coincide not only
 * in the view's projection, but also in the space of the cloud. Only points that visible `Points` marks show
 * are counted; marks that only highlight one point (`followed`, `highest`) do not count. If several marks
 * show a point at the same stage, it is counted once, where the topmost of these marks draws it. If a point
 * is shown at several stages, it is counted at each. @param {View} view @param {Moment} moment
 * @returns {Crowd[]} */
export function crowdsOf({ layers, dims, ranges }, moment) {
  const shown =
    /**
     * @type {Map<string, {cloud: string, n: number, known: Float64Array[], counted: Set<number>, numbers:
     *   number[], points: number[]}>} for each cloud and list of stages, the points to count. n: the size of
     *   the cloud; known: its points at each of the stages; counted, numbers: the indices of the points to
     *   count; points: their display coordinates
     */
    (new Map());
  for (const mark of [...layers].reverse()) {
    const { cloud, rows } = mark;
    const only = onlyOf(mark);
    const picked = only === "followed" || (only && "kind" in only && only.kind === "highest");
    const n = sizeOf(moment.recipe, cloud);
    if (mark.mark !== "Points" || picked || n < 2 || !(opacityOf(mark, moment.progress) > 0)) continue;
    const stages = [...new Set(rows.map(({ stage }) => stage))].sort();
    const key = JSON.stringify([cloud, stages]);
    const points = pointsOf(mark, moment);
    const known = stages.map((stage) => (stage === null ? moment.at[cloud] : moment.stages[cloud][stage]));
    const group = shown.get(key) ?? { cloud, n, known, counted: new Set(), numbers: [], points: [] };
    for (let i = 0; i < points.length / dims; i++) {
      const index = Array.isArray(only) ? only[i] : i;
      if (group.counted.has(index) || Number.isNaN(points[i * dims])) continue;
      group.counted.add(index);
      group.numbers.push(index);
      for (let r = 0; r < dims; r++) group.points.push(points[i * dims + r]);
    }
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
