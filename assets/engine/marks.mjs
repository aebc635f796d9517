// @ts-check
/**
 * The points that each kind of mark draws. For each kind, MARKS has one function with the name of the kind;
 * it returns the points in display coordinates, one after the other in drawing order, with NaN for gaps.
 * Mirrors components/language/marks/; a test compares names and points with Python. Pure.
 *
 * The types are generated from Python's dataclasses (tools/browser_types.py).
 */

import { allPoints, shownIndices, shownPoints } from "./only.mjs";
import {
  between,
  cloudOf,
  cloudStages,
  coordinate,
  gather,
  project,
  rowMovers,
  sizeOf,
  unpack,
  value,
} from "./engine.mjs";
import { bestThreshold, disc, facing, histogram, semiAxes, withHeads } from "./geometry.mjs";
import { certificateOf, hullOf } from "./measures.mjs";
import { flattened, parametersOf, sourcesOf } from "./steps.mjs";
import { latest, same, takeTime } from "./time_slices.mjs";
/** @import { Cloud, Moment, Params, Stages } from "./engine.mjs" */
/** @import { DiscMark, Mark, RimMark, Row, SupportDiscMark, SupportMark, WayMark } from "./recipe.d.ts" */

// added before a count is rounded down, so that a rounding error does not lower the count by 1
const COUNT_TOLERANCE = 1e-9;

/** For each kind of mark, the function that returns its points. @type {{[Kind in Mark["mark"]]: (mark:
 * Extract<Mark, {mark: Kind}>, moment: Moment) => Float32Array}} */
export const MARKS = {
  Points: (mark, moment) => shownPoints(mark, moment),

  Line(mark, moment) {
    const points = allPoints(mark, moment);
    const k = mark.rows.length;
    if (mark.where) {
      const shown = allPoints({ ...mark, rows: [mark.where] }, moment);
      for (let i = 0; i < shown.length; i++) if (!(shown[i] > 0)) points.fill(NaN, i * k, (i + 1) * k);
    }
    return withHeads(mark.order ? gather(points, k, unpack(mark.order)) : points, k, mark.arrow);
  },

  /** The path of each shown point through its stages up to its present position. It always has the same
   * number of corners: the corners for later stages coincide with the present position. */
  Trail(mark, moment) {
    const { recipe, stages, params, progress } = moment;
    const each = moment.each?.[mark.cloud];
    const ownStages = stages[mark.cloud];
    const n = sizeOf(recipe, mark.cloud);
    const indices = shownIndices(mark, moment);
    const upTo = (/** @type {number} */ s) =>
      each ? indices.map((i) => Math.min(s, each[i])) : Math.min(s, progress);
    const m = indices.length;
    const k = mark.rows.length;
    const corners = ownStages.length + 1;
    const out = new Float32Array(m * corners * k).fill(NaN);
    const few = ownStages.map((stage) => gather(stage, stage.length / n, indices));
    few.forEach((_, s) => {
      const points = project(mark.rows, few, between(few, m, upTo(s)), m, params);
      for (let i = 0; i < m; i++) out.set(points.subarray(i * k, (i + 1) * k), (i * corners + s) * k);
    });
    return withHeads(out, k, mark.arrow);
  },

  /** The path that each shown point takes as a parameter runs: the whole path if `mark.whole`, otherwise only
   * the part up to the parameter's current value. That part always has the same number of corners: the
   * corners beyond the current value coincide with the point. */
  Way(mark, moment) {
    const { params } = moment;
    const k = mark.rows.length;
    const stops = unpack(mark.stops);
    const whole = way(mark, moment);
    if (mark.whole) return whole;
    const points = shownPoints(mark, moment);
    const corners = stops.length + 1;
    const out = new Float32Array(points.length * (corners + 1)).fill(NaN);
    for (let line = 0; line < points.length / k; line++) {
      for (let v = 0; v < corners; v++) {
        const from = (line * corners + v) * k;
        const past = v < stops.length && stops[v] <= params[mark.parameter];
        out.set(
          past ? whole.subarray(from, from + k) : points.subarray(line * k, (line + 1) * k),
          (line * (corners + 1) + v) * k,
        );
      }
    }
    return out;
  },

  SemiAxes({ cloud, rows }, { recipe, at, params }) {
    const n = sizeOf(recipe, cloud);
    const d = at[cloud].length / n;
    const middle = Array.from(at[cloud].subarray(0, d));
    const ends = semiAxes(at[cloud], n).flatMap((axis) => [
      middle.map((m, j) => m - axis[j]),
      middle.map((m, j) => m + axis[j]),
      middle.map(() => NaN),
    ]);
    return still(rows, ends.flat(), ends.length, params);
  },

  Rim: (mark, moment) => round(mark, moment).subarray(mark.rows.length),

  Hull(mark, moment) {
    return gather(allPoints(mark, moment), mark.rows.length, hullOf(mark.cloud, moment).order);
  },

  HullFaces(mark, moment) {
    const { triangles } = hullOf(mark.cloud, moment);
    const indices = new Int32Array(3 * Math.max(2 * mark.count - 4, 1));
    indices.set(triangles.flat());
    return gather(allPoints(mark, moment), mark.rows.length, indices);
  },

  Histogram: (mark, moment) => histogram(shownPoints(mark, moment), mark.span, mark.bins),

  Profile(mark, moment) {
    const points = moment.at[mark.cloud];
    const d = points.length / sizeOf(moment.recipe, mark.cloud);
    const indices = shownIndices(mark, moment);
    const out = new Float32Array(indices.length * (d + 1) * 2).fill(NaN);
    indices.forEach((i, line) => {
      for (let j = 0; j < d; j++) out.set([j + 1, points[i * d + j]], (line * (d + 1) + j) * 2);
    });
    return out;
  },

  Threshold(mark, moment) {
    const cut = bestThreshold(allPoints(mark, moment), unpack(mark.classes)).threshold;
    const [low, high] = mark.span;
    return Float32Array.of(cut, low, cut, high);
  },

  Average(mark, moment) {
    const points = allPoints(mark, moment);
    const k = mark.rows.length;
    const { weights } = certificateOf(mark.cloud, moment);
    const [low, high] = mark.span;
    const own = Math.min(moment.followed, weights.length - 1);
    const most = low > 0 ? Math.min(weights.length, Math.floor(1 / low + COUNT_TOLERANCE)) : weights.length;
    const out = new Float32Array(3 * most * k).fill(NaN);
    let at = 0;
    weights.forEach((p, i) => {
      if (!(p > 0 && p >= low && p < high)) return;
      out.set(points.subarray(own * k, own * k + k), at);
      out.set(points.subarray(i * k, i * k + k), at + k);
      at += 3 * k;
    });
    return out;
  },

  BestQuery(mark, moment) {
    const { query, largest } = certificateOf(mark.cloud, moment);
    const size = Math.hypot(...query);
    const scale = (largest === 1 ? mark.reach : Math.min(size, mark.reach)) / (size || 1);
    const ends = [...query.map(() => 0), ...query.map((x) => scale * x)];
    return withHeads(still(mark.rows, ends, 2, moment.params), mark.rows.length, mark.arrow);
  },

  Support: (mark, moment) => support(mark, moment).subarray(mark.rows.length),

  SupportDisc: (mark, moment) => support(mark, moment),

  WeightCurve(mark, moment) {
    const query = mark.query ? vector(mark.query, moment.params) : certificateOf(mark.cloud, moment).query;
    return weightsAlong(mark, query, mark.span, mark.corners, moment);
  },

  WeightLimit(mark, moment) {
    const { largest } = certificateOf(mark.cloud, moment);
    return Float32Array.of(mark.span[0], largest, mark.span[1], largest);
  },

  WeightNow(mark, moment) {
    const query = vector(mark.query, moment.params);
    const long = Math.hypot(...query);
    return weightsAlong(mark, query, [long, long], 1, moment);
  },

  Mesh: (mark, moment) => allPoints(mark, moment),

  Sheet: (mark, moment) => allPoints(mark, moment),

  Disc: (mark, moment) => round(mark, moment),

  Labels: (mark, moment) => allPoints(mark, moment),

  Field: () => new Float32Array(),

  Cells: (mark, moment) => allPoints(mark, moment),
};

/** The points that a mark draws, computed by the function of its kind in MARKS. `pointsOf` in shown.mjs
 * caches them. @param {Mark} mark @param {Moment} moment */
export const drawn = (mark, moment) =>
  /** @type {(mark: Mark, moment: Moment) => Float32Array} */ (MARKS[mark.mark])(mark, moment);

/**
 * @typedef {import("./time_slices.mjs").Slot<Float64Array>} Slot @type {WeakMap<Cloud, Record<string, Slot>>}
 * results of `startsOf`: for each cloud, one slot for each parameter and list of stops
 */
const starts = new WeakMap();

/**
 * @type {WeakMap<Mark, {inputs: unknown[], stages: Float64Array[]}>} the last result of
 * `walk` for each mark, with the values on which it depends
 */
const walked = new WeakMap();

/** @type {WeakMap<Mark, {inputs: unknown[], points: Float32Array}>} results of `way` */
const ways = new WeakMap();

/** The values of all parameters except `mark.parameter`, the one that changes along the mark's paths.
 * @param {WayMark} mark @param {Params} params */
const otherParams = (mark, { [mark.parameter]: _, ...others }) => Object.values(others);

/** The positions at stage 0 of all points of a mark's cloud, for several values of the parameter
 * `mark.parameter`: first all points for the first value in `mark.stops`, then all points for the second, and
 * so on. The same array object is returned until another parameter changes. The positions are computed in
 * time slices; until the computation is complete, the previous result is returned. @param {WayMark} mark
 * @param {Moment} moment */
export function startsOf(mark, { recipe, stages, params }) {
  const cloud = cloudOf(recipe, mark.cloud);
  const slots = starts.get(cloud) ?? {};
  starts.set(cloud, slots);
  const slot = (slots[`${mark.parameter} ${mark.stops.bdata}`] ??= {});
  const unmoved = { ...cloud, steps: [] };
  /** @type {Float64Array[]} */ const positions = [];
  const compute = () => {
    for (const stop of unpack(mark.stops).subarray(positions.length)) {
      takeTime(cloud.points.shape[0]);
      positions.push(cloudStages(unmoved, { ...params, [mark.parameter]: stop }, stages)[0]);
    }
    const found = new Float64Array(positions.length * positions[0].length);
    positions.forEach((points, k) => found.set(points, k * points.length));
    return found;
  };
  return latest(slot, otherParams(mark, params), compute, false);
}

/** The whole path of each shown point as the parameter `mark.parameter` runs, in display coordinates, with a
 * gap after each path. A path connects the places where the point would be now if the parameter had the first
 * of the values `mark.stops`, the second, and so on. The result is cached until one of these changes: the
 * progress, the shown points, another parameter, or a parameter that occurs in the rows.
 * @param {WayMark} mark @param {Moment} moment */
function way(mark, moment) {
  const { params, progress } = moment;
  const indices = shownIndices(mark, moment);
  const own = walk(mark, moment, indices, startsOf(mark, moment));
  const inputs = [own, progress, ...rowMovers(mark.rows).map((name) => params[name])];
  const known = ways.get(mark);
  if (known && same(known.inputs, inputs)) return known.points;
  const m = indices.length;
  const count = unpack(mark.stops).length;
  const k = mark.rows.length;
  const shown = project(mark.rows, own, between(own, m * count, progress), m * count, params);
  const points = new Float32Array(m * (count + 1) * k).fill(NaN);
  for (let line = 0; line < m; line++)
    points.set(shown.subarray(line * count * k, (line + 1) * count * k), line * (count + 1) * k);
  ways.set(mark, { inputs, points });
  return points;
}

/** All stages of some points of a mark's cloud. Each point is started several times: from its positions at
 * stage 0 for each of the values in `mark.stops`, which are values of the parameter that the mark names. A
 * stage is one array, ordered point by point, and for each point stop by stop. The result is cached; it does
 * not depend on the progress. @param {WayMark} mark @param {Moment} moment @param {number[]} indices of the
 * points @param {Float64Array} starting the positions at stage 0, as `startsOf` returns them */
function walk(mark, { recipe, stages, params }, indices, starting) {
  const cloud = cloudOf(recipe, mark.cloud);
  const inputs = [starting, ...indices, ...moving(cloud, mark.parameter, params, stages)];
  const known = walked.get(mark);
  if (known && same(known.inputs, inputs)) return known.stages;
  const n = cloud.points.shape[0];
  const count = unpack(mark.stops).length;
  const d = starting.length / (n * count) || 1;
  const m = indices.length;
  const at = new Float64Array(m * count * d);
  indices.forEach((index, line) => {
    for (let v = 0; v < count; v++)
      for (let j = 0; j < d; j++) at[(line * count + v) * d + j] = starting[(v * n + index) * d + j];
  });
  const found = cloudStages({ ...cloud, place: [] }, params, stages, { at, index: 0, n: m * count });
  walked.set(mark, { inputs, stages: found });
  return found;
}

/** The values on which the steps of a cloud depend, apart from one parameter: the values of other parameters,
 * and the stages of the clouds that the steps use as matrices (`Of`). @param {Cloud} cloud
 * @param {string} parameter @param {Params} params @param {Stages} stages @returns {unknown[]} */
function moving(cloud, parameter, params, stages) {
  const steps = flattened(cloud.steps);
  return [
    ...parametersOf(steps)
      .filter((name) => name !== parameter)
      .map((name) => params[name]),
    ...sourcesOf(steps).map((name) => stages[name]),
  ];
}

/** The weights of a row at these parameters, as an array. Used as a query of attention, the array gives each
 * point the score ⟨weights, point⟩. @param {Row} row @param {Record<string, number>} params */
const vector = ({ weights }, params) => Array.from(Array.isArray(weights) ? weights : value(weights, params));

/** The attention scores ⟨query, point⟩ of n points, which are taken as keys.
 * @param {ArrayLike<number>} points @param {number} n @param {number[]} query */
function scoresOf(points, n, query) {
  const d = points.length / n;
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) for (let j = 0; j < query.length; j++) out[i] += query[j] * points[i * d + j];
  return out;
}

/** The supporting line or disc of a query: orthogonal to the query, and through the key with the highest
 * score. Returns the centre of the line or disc, then its ends or edge. The query is `mark.query` or, without
 * this, the query that selects the followed point by the largest margin. If no query selects this point, all
 * returned points coincide with it. @param {SupportMark | SupportDiscMark} mark @param {Moment} moment */
function support(mark, moment) {
  const { recipe, at, params, followed } = moment;
  const n = sizeOf(recipe, mark.cloud);
  const k = mark.rows.length;
  let query;
  let best = Math.min(followed, n - 1);
  if (mark.query) {
    query = vector(mark.query, params);
    const scores = scoresOf(at[mark.cloud], n, query);
    best = scores.indexOf(Math.max(...scores));
  } else {
    const found = certificateOf(mark.cloud, moment);
    query = found.query.map((x) => (found.largest === 1 ? x : 0));
  }
  const points = [...query.map(() => 0), ...query];
  const ends = new Float64Array(2 * k); // not in single precision, because their difference may be small
  mark.rows.forEach((row, r) => coordinate(row, [points], points, 2, params, ends, r, k));
  const shown = allPoints(mark, moment);
  const middle = Array.from(shown.subarray(best * k, best * k + k));
  return facing(
    middle,
    middle.map((_, r) => ends[k + r] - ends[r]),
    mark.radius,
    mark.corners,
  );
}

/** The attention weight of the followed (selected) point as a function of the length of the query: pairs
 * (length, weight) for equally spaced lengths. @param {Mark} mark @param {number[]} query a vector of any
 * length in the query's direction @param {[number, number]} span the smallest and the largest length
 * @param {number} count the number of lengths @param {Moment} moment */
function weightsAlong({ cloud }, query, [low, high], count, { recipe, at, followed }) {
  const n = sizeOf(recipe, cloud);
  const size = Math.hypot(...query) || 1;
  const scores = scoresOf(
    at[cloud],
    n,
    query.map((x) => x / size),
  );
  const own = scores[Math.min(followed, n - 1)];
  const step = (high - low) / Math.max(count - 1, 1);
  const out = new Float32Array(2 * count);
  const sums = exponentials(scores, own, low, step, count);
  for (let i = 0; i < count; i++) {
    out[2 * i] = low + step * i;
    out[2 * i + 1] = 1 / sums[i];
  }
  return out;
}

/** The sum Σ exp(length·(score − own)) over all scores, for each of `count` lengths of the query: low,
 * low + step, … From one length to the next, the term of a score is multiplied by a constant factor, so
 * `exp` is called only twice for each score. This loop is a function of its own because V8, the engine of
 * Chrome, discarded the loop's compiled code in every frame when it was part of `weightsAlong`.
 * @param {Float64Array} scores for a query of length 1 @param {number} own the score of the followed point
 * @param {number} low @param {number} step @param {number} count */
function exponentials(scores, own, low, step, count) {
  const sums = new Float64Array(count);
  for (let k = 0; k < scores.length; k++) {
    const over = scores[k] - own;
    const factor = Math.exp(step * over);
    for (let i = 0, term = Math.exp(low * over); i < count; i++, term *= factor) sums[i] += term;
  }
  return sums;
}

/** The display coordinates of the disc that a plane cuts from a ball around the origin: its centre, then its
 * edge. The points of the mark's cloud are not drawn; their coordinates are the numbers that define the plane
 * (`values` of `disc` in geometry.mjs). @param {RimMark | DiscMark} mark @param {Moment} moment */
function round({ cloud, rows, radius, corners }, { at, params }) {
  const points = disc(at[cloud], radius, corners);
  return still(rows, points, points.length / 3, params);
}

/** The display coordinates of n points that belong to no cloud and are the same at every stage.
 * @param {Row[]} rows one for each display coordinate @param {ArrayLike<number>} points @param {number} n
 * @param {Record<string, number>} params */
const still = (rows, points, n, params) => project(rows, [points], points, n, params);
