// @ts-check
/**
 * Places that several points share, in space and as far as an eye can tell. As geometry/crowds.py and
 * components/drawing/crowds.py; a test holds them together. Pure.
 *
 * @typedef {{place: number[], count: number, cloud: string}} Crowd
 */

import { cloudOf, onlyOf } from "./engine.mjs";
import { opacityOf, pointsOf } from "./shown.mjs";

const FINE = 1000; // cells along each axis: what is in one, or beside it, stands in one place
const SHARE = 50; // one point in so many of all makes a crowd, two at least: fewer meet by chance
// cells, about a mark: there a crowd has at most half as many others, or it is part of a curve
const AROUND = 12;
const LETTER = 0.62; // of its height: how wide a digit is, at most
const WIDE = 4 * FINE; // numbers of cells that a key has room for: farther out nothing is seen

/** The places where many of the points (k numbers each) stand, the fullest first.
 * @param {ArrayLike<number>} points @param {[number, number][]} ranges
 * @param {(i: number) => ArrayLike<number>} [space] where point i is of which these are a picture: who is not
 * there where most of a place are is not counted @returns {{place: number[], count: number}[]} */
export function crowds(points, ranges, space) {
  const k = ranges.length;
  const reach = (3 * Math.max(...ranges.map(([low, high]) => high - low))) / FINE;
  const members = /** @type {Map<number, number[]>} */ (new Map());
  let all = 0;
  for (let i = 0; i < points.length; i += k) {
    let key = 0;
    for (let r = 0; r < k; r++) {
      const [low, high] = ranges[r];
      key = key * WIDE + Math.floor(((points[i + r] - low) / (high - low)) * FINE) + FINE;
    }
    if (!Number.isFinite(key)) continue;
    all++;
    const own = members.get(key);
    if (own) own.push(i);
    else members.set(key, [i]);
  }
  const least = Math.max(2, all / SHARE);
  const steps = beside(k);
  const full = [...members].filter(([, own]) => own.length > 1).sort(([, a], [, b]) => b.length - a.length);
  const found = full.flatMap(([key]) => {
    const here = steps.flatMap((by) => members.get(key + by) ?? []);
    if (!members.has(key) || here.length < least) return [];
    for (const by of steps) members.delete(key + by);
    const own = space ? together(here, (i) => space(i / k), reach) : here;
    if (own.length < least) return [];
    const place = ranges.map((_, r) => own.reduce((sum, i) => sum + points[i + r], 0) / own.length);
    return near(points, place, ranges) <= 1.5 * own.length ? [{ place, count: own.length }] : [];
  });
  return found.sort((a, b) => b.count - a.count);
}

/** Those of some points that are where most of them are. @param {number[]} own
 * @param {(i: number) => ArrayLike<number>} space @param {number} reach */
function together(own, space, reach) {
  const all = own.map(space);
  const most = Array.from(all[0], (_, j) => Float64Array.from(all, (x) => x[j]).sort()[all.length >> 1]);
  return own.filter((_, i) => most.every((m, j) => Math.abs(all[i][j] - m) <= reach));
}

/** How many points are about as near to a place as a mark is wide. @param {ArrayLike<number>} points
 * @param {number[]} place @param {[number, number][]} ranges */
function near(points, place, ranges) {
  const k = ranges.length;
  const reach = ranges.map(([low, high]) => ((high - low) * AROUND) / FINE);
  let count = 0;
  for (let i = 0; i < points.length; i += k) {
    let r = 0;
    while (r < k && Math.abs(points[i + r] - place[r]) <= reach[r]) r++;
    if (r === k) count++;
  }
  return count;
}

/** From the key of a cell to those of its neighbours, and its own. @param {number} k @returns {number[]} */
const beside = (k) => (k ? beside(k - 1).flatMap((by) => [-1, 0, 1].map((step) => by * WIDE + step)) : [0]);

/** Those whose numbers can be read beside one another: none is written over that of one before it.
 * @template {{count: number}} C @param {C[]} crowds @param {ArrayLike<number>} at x and y of each, in pixels
 * @param {number} tall pixels, their letters @returns {C[]} */
export function legible(crowds, at, tall) {
  const /** @type {[number, number, number][]} */ taken = [];
  return crowds.filter(({ count }, i) => {
    const x = at[2 * i];
    const y = at[2 * i + 1];
    const wide = LETTER * tall * (String(count).length + 1);
    if (taken.some(([u, v, w]) => Math.abs(x - u) < Math.max(wide, w) && Math.abs(y - v) < tall))
      return false;
    taken.push([x, y, wide]);
    return true;
  });
}

/** The crowds of each cloud's points in a view, the fullest first: of those that it shows, each where the
 * topmost mark does, and of no point that is picked out. Those of a place share it in their cloud's space,
 * not in this picture of it alone. @param {import("./engine.mjs").View} view
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
