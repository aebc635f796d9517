// @ts-check
/**
 * Marks: what is drawn of a cloud, as in components/language/marks/. One function for each, of the same name:
 * its points in display coordinates, in drawing order, with gaps as NaN. Pure. A test holds the names, and
 * the points of each, together.
 *
 * The types are written from the dataclasses of Python (tools/browser_types.py).
 *
 * @typedef {import("./recipe.d.ts").Row} Row
 * @typedef {import("./recipe.d.ts").Only} Only
 * @typedef {import("./recipe.d.ts").Gated} Gated
 * @typedef {import("./recipe.d.ts").Measure} Measure
 * @typedef {import("./recipe.d.ts").Color} Color
 * @typedef {import("./recipe.d.ts").Hand} Hand
 * @typedef {import("./recipe.d.ts").Replay} Replay
 * @typedef {import("./recipe.d.ts").Mark} Mark
 * @typedef {import("./engine.mjs").Packed} Packed
 * @typedef {{recipe: import("./engine.mjs").Recipe, stages: import("./engine.mjs").Stages, at: Record<string,
 *   Float64Array>, params: Record<string, number>, progress: number, followed: number, each?:
 *   import("./engine.mjs").Progresses | null}} Moment what is known when a frame is drawn; each: the progress
 *   of each point of the clouds in which they differ
 */

import { between, cloudOf, cloudStages, gather, project, rowMovers, unpack, value } from "./engine.mjs";
import { hull } from "./hull.mjs";
import { bestThreshold, disc, facing, histogram, semiAxes, withHeads } from "./geometry.mjs";
import { FATES, fates } from "./gates.mjs";
import { certificate, selection, weights } from "./selection.mjs";

const ROUNDING = 1e-9; // of a count

/** @type {Record<string, (mark: Mark, moment: Moment) => Float32Array>} */
export const MARKS = {
  Points: (mark, moment) => some(mark, moment),

  Line(mark, moment) {
    const points = all(mark, moment);
    const k = mark.rows.length;
    return withHeads(mark.order ? gather(points, k, unpack(mark.order)) : points, k, mark.arrow);
  },

  /** Joins where a point was at each stage to where it is: its later corners rest on the point itself. */
  Trail(mark, moment) {
    const { recipe, stages, params, progress } = moment;
    const each = moment.each?.[mark.cloud];
    const own = stages[mark.cloud];
    const n = sizeOf(recipe, mark.cloud);
    const indices = chosen(mark, moment);
    const upTo = (/** @type {number} */ s) =>
      each ? indices.map((i) => Math.min(s, each[i])) : Math.min(s, progress);
    const m = indices.length;
    const k = mark.rows.length;
    const corners = own.length + 1;
    const out = new Float32Array(m * corners * k).fill(NaN);
    const few = own.map((stage) => gather(stage, stage.length / n, indices));
    few.forEach((_, s) => {
      const points = project(mark.rows, few, between(few, m, upTo(s)), m, params);
      for (let i = 0; i < m; i++) out.set(points.subarray(i * k, (i + 1) * k), (i * corners + s) * k);
    });
    return withHeads(out, k, mark.arrow);
  },

  /** What is not ahead ends where the point is: later corners rest on it. */
  Way(mark, moment) {
    const { params } = moment;
    const k = mark.rows.length;
    const stops = unpack(mark.stops);
    const whole = way(mark, moment);
    if (mark.whole) return whole;
    const points = some(mark, moment);
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
    return gather(all(mark, moment), mark.rows.length, hullOf(mark.cloud, moment).order);
  },

  HullFaces(mark, moment) {
    const { triangles } = hullOf(mark.cloud, moment);
    const indices = new Int32Array(3 * Math.max(2 * mark.count - 4, 1));
    indices.set(triangles.flat());
    return gather(all(mark, moment), mark.rows.length, indices);
  },

  Histogram: (mark, moment) => histogram(some(mark, moment), mark.span, mark.bins),

  Profile(mark, moment) {
    const points = moment.at[mark.cloud];
    const d = points.length / sizeOf(moment.recipe, mark.cloud);
    const indices = chosen(mark, moment);
    const out = new Float32Array(indices.length * (d + 1) * 2).fill(NaN);
    indices.forEach((i, line) => {
      for (let j = 0; j < d; j++) out.set([j + 1, points[i * d + j]], (line * (d + 1) + j) * 2);
    });
    return out;
  },

  Threshold(mark, moment) {
    const cut = bestThreshold(all(mark, moment), unpack(mark.classes)).threshold;
    const [low, high] = mark.span;
    return Float32Array.of(cut, low, cut, high);
  },

  Average(mark, moment) {
    const points = all(mark, moment);
    const k = mark.rows.length;
    const { weights } = certificateOf(mark.cloud, moment);
    const [low, high] = mark.span;
    const own = Math.min(moment.followed, weights.length - 1);
    const most = low > 0 ? Math.min(weights.length, Math.floor(1 / low + ROUNDING)) : weights.length;
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
    const query = vector(/** @type {Row} */ (mark.query), moment.params);
    const long = Math.hypot(...query);
    return weightsAlong(mark, query, [long, long], 1, moment);
  },

  Mesh: (mark, moment) => all(mark, moment),

  Sheet: (mark, moment) => all(mark, moment),

  Disc: (mark, moment) => round(mark, moment),

  Labels: (mark, moment) => all(mark, moment),

  Field: () => new Float32Array(),

  Cells: (mark, moment) => all(mark, moment),
};

/**
 * @param {import("./engine.mjs").Recipe} recipe
 * @param {string} cloud
 * @returns {number} how many points it has
 */
const sizeOf = (recipe, cloud) => cloudOf(recipe, cloud).points.shape[0];

/** Display coordinates of all points of a mark's cloud. @param {Mark} mark @param {Moment} moment */
const all = ({ cloud, rows }, { recipe, stages, at, params }) =>
  project(rows, stages[cloud], at[cloud], sizeOf(recipe, cloud), params);

/** The same of those that it shows. @param {Mark} mark @param {Moment} moment */
function some(mark, moment) {
  if (!mark.only) return all(mark, moment);
  if (counted(mark.only)) return kept(all(mark, moment), mark.rows.length, mark, moment);
  const { recipe, stages, at, params } = moment;
  const n = sizeOf(recipe, mark.cloud);
  const indices = chosen(mark, moment);
  const own = stages[mark.cloud];
  const used = new Set(
    mark.rows.flatMap(stagesOf).map((stage) => (stage === null ? null : Math.min(stage, own.length - 1))),
  );
  const few = (/** @type {Float64Array} */ points, /** @type {number | null} */ stage) =>
    used.has(stage) ? gather(points, points.length / n, indices) : points;
  return project(mark.rows, own.map(few), few(at[mark.cloud], null), indices.length, params);
}

/** The stages that a row looks at; null is the progress. @param {Row} row @returns {(number | null)[]} */
const stagesOf = ({ stage, over }) => [stage, ...(over ? stagesOf(over) : [])];

/**
 * Whether the number of such points changes with the moment: the others then stay in their places, as gaps.
 * @param {Only} only
 * @returns {only is {kind: "onhull" | "inside" | "selectable" | "unselectable"} | Gated} */
const counted = (only) =>
  only !== null && typeof only === "object" && "kind" in only && only.kind !== "highest";

/**
 * @type {WeakMap<Mark, {inputs: unknown[], starts: Float64Array}>} where all points are at each stop, before
 *   the progress moves them
 */
const starts = new WeakMap();

/**
 * @type {WeakMap<Mark, {inputs: unknown[], stages: Float64Array[]}>} the stages of those that are shown, at
 *   each stop
 */
const walked = new WeakMap();

/** @type {WeakMap<Mark, {inputs: unknown[], points: Float32Array}>} */
const ways = new WeakMap();

/** @param {{inputs: unknown[]} | undefined} known @param {unknown[]} inputs */
const unmoved = (known, inputs) =>
  known?.inputs.length === inputs.length && inputs.every((input, i) => input === known?.inputs[i]);

/** All points at all stops, stop by stop. @param {Mark} mark @param {Moment} moment */
function startsOf(mark, { recipe, stages, params }) {
  const { [mark.parameter]: _, ...others } = params;
  const inputs = Object.values(others);
  const known = starts.get(mark);
  if (known && unmoved(known, inputs)) return known.starts;
  const cloud = { ...cloudOf(recipe, mark.cloud), steps: [] };
  const stops = unpack(mark.stops);
  const each = Array.from(
    stops,
    (stop) => cloudStages(cloud, { ...params, [mark.parameter]: stop }, stages)[0],
  );
  const found = new Float64Array(each.length * each[0].length);
  each.forEach((points, k) => found.set(points, k * points.length));
  starts.set(mark, { inputs, starts: found });
  return found;
}

/**
 * Where points are at the stops of a parameter, with all else as it is, each with a gap behind it; found
 * again only if something else
 * has moved. @param {Mark} mark @param {Moment} moment */
function way(mark, moment) {
  const { params, progress } = moment;
  const { [mark.parameter]: _, ...others } = params;
  const indices = chosen(mark, moment);
  const still = [...indices, ...Object.values(others)];
  const inputs = [progress, ...still];
  const known = ways.get(mark);
  if (known && unmoved(known, inputs)) return known.points;
  const m = indices.length;
  const count = unpack(mark.stops).length;
  const k = mark.rows.length;
  const before = walked.get(mark);
  const own = before && unmoved(before, still) ? before.stages : walk(mark, moment, indices);
  walked.set(mark, { inputs: still, stages: own });
  const shown = project(mark.rows, own, between(own, m * count, progress), m * count, params);
  const points = new Float32Array(m * (count + 1) * k).fill(NaN);
  for (let line = 0; line < m; line++)
    points.set(shown.subarray(line * count * k, (line + 1) * count * k), line * (count + 1) * k);
  ways.set(mark, { inputs, points });
  return points;
}

/**
 * The stages of these points at all stops, point by point: they do not move with the progress. @param {Mark}
 * mark @param {Moment} moment
 * @param {number[]} indices */
function walk(mark, moment, indices) {
  const { recipe, stages, params } = moment;
  const cloud = cloudOf(recipe, mark.cloud);
  const n = cloud.points.shape[0];
  const every = startsOf(mark, moment);
  const count = unpack(mark.stops).length;
  const d = every.length / (n * count) || 1;
  const m = indices.length;
  const at = new Float64Array(m * count * d);
  indices.forEach((index, line) => {
    for (let v = 0; v < count; v++)
      for (let j = 0; j < d; j++) at[(line * count + v) * d + j] = every[(v * n + index) * d + j];
  });
  return cloudStages({ ...cloud, place: [] }, params, stages, { at, index: 0, n: m * count });
}

/**
 * The numbers of the points to show.
 * @param {{only?: Only, cloud: string}} mark
 * @param {Moment} moment
 * @returns {number[]}
 */
export function chosen({ only, cloud }, moment) {
  const { recipe, stages, at, params, followed } = moment;
  const n = sizeOf(recipe, cloud);
  const those = (/** @type {(i: number) => boolean} */ asked) => {
    /** @type {number[]} */ const found = [];
    for (let i = 0; i < n; i++) if (asked(i)) found.push(i);
    return found;
  };
  if (!only) return those(() => true);
  if (only === "followed") return [Math.min(followed, n - 1)];
  if (Array.isArray(only)) return only;
  if (only.kind === "selectable" || only.kind === "unselectable") {
    const { wins } = selectionOf(at[cloud], cloud, moment);
    const asked = only.kind === "selectable";
    return those((i) => wins[i] === asked);
  }
  if (only.kind === "gated") {
    const { found } = fatesOf(only, only.of || cloud, moment);
    const fate = FATES.indexOf(only.fate);
    return those((i) => found[i] === fate);
  }
  if (only.kind !== "highest") {
    const { corners } = hullOf(cloud, moment);
    const on = only.kind === "onhull";
    return those((i) => corners[i] === on);
  }
  const values = project([only.row], stages[cloud], at[cloud], n, params);
  let best = 0;
  for (let i = 1; i < n; i++) if (values[i] > values[best]) best = i;
  return [best];
}

/**
 * Numbers of all points (k each), those that are not shown as gaps. @param {Float32Array} numbers @param
 * {number} k @param {Mark} mark
 * @param {Moment} moment */
function kept(numbers, k, mark, moment) {
  const out = new Float32Array(numbers.length).fill(NaN);
  for (const i of chosen(mark, moment)) for (let r = 0; r < k; r++) out[i * k + r] = numbers[i * k + r];
  return out;
}

/** @type {WeakMap<Float64Array[], Map<number, ReturnType<typeof fates>>>} of a cloud's stages, by the step */
const gated = new WeakMap();

/**
 * What becomes of each point of a cloud after max(x, 0), and the ranks of their pieces.
 * @param {{before: number, basis: Packed}} only
 * @param {string} name
 * @param {Moment} moment
 */
export function fatesOf({ before, basis }, name, { recipe, stages, params }) {
  const own = stages[name];
  const n = sizeOf(recipe, name);
  const found = gated.get(own)?.get(before);
  if (found) return found;
  const from = own[before];
  const [m, d] = basis.shape;
  const along = unpack(basis);
  const x = new Float64Array(n * m);
  for (let i = 0; i < n; i++)
    for (let k = 0; k < m; k++)
      for (let j = 0; j < d; j++) x[i * m + k] += along[k * d + j] * from[i * d + j];
  const next = fates(layer(cloudOf(recipe, name), before, basis, params), x, own[before + 1], n);
  gated.set(own, (gated.get(own) ?? new Map()).set(before, next));
  return next;
}

/** W and b of an Affine on the space of a basis. @param {import("./engine.mjs").Cloud} cloud
 * @param {number} before @param {Packed} basis @param {Record<string, number>} params */
export function layer({ steps }, before, basis, params) {
  const step = steps[before];
  if (step.kind !== "affine" || "of" in step.A) throw new Error(`step ${before} is no Affine of its own`);
  const d = basis.shape[1];
  const A = rowsOf(value(step.A, params), d);
  const directions = rowsOf(unpack(basis), d);
  const W = A.map((row) => directions.map((each) => each.reduce((sum, x, j) => sum + x * row[j], 0)));
  return { W, b: step.b ? value(step.b, params) : new Float64Array(W.length) };
}

/** @param {ArrayLike<number>} matrix @param {number} d @returns {number[][]} */
const rowsOf = (matrix, d) =>
  Array.from({ length: matrix.length / d }, (_, i) => Array.from({ length: d }, (_, j) => matrix[i * d + j]));

/** What is found of points in places, for which what was last found of their cloud is a start. @template T
 * @param {(points: Float64Array, n: number, d: number, before: T | undefined, name: string, moment: Moment)
 *   => T} find
 * @returns {(points: Float64Array, name: string, moment: Moment) => T} */
function remembering(find) {
  /** @type {WeakMap<Float64Array, T>} */ const found = new WeakMap();
  /** @type {WeakMap<import("./engine.mjs").Cloud, T>} */ const latest = new WeakMap();
  return (points, name, moment) => {
    const cloud = cloudOf(moment.recipe, name);
    const n = cloud.points.shape[0];
    const known =
      found.get(points) ?? find(points, n, points.length / n || 1, latest.get(cloud), name, moment);
    // a stage that is asked for in every frame is no moment before
    if (!found.has(points)) latest.set(cloud, known);
    found.set(points, known);
    return known;
  };
}

/**
 * Which of a cloud's points attention can select, and the most that it can give each, where they are or have
 * been. What is compared
 * with a moment before is a copy: others may be where those points were. */
const selectionOf = remembering((points, n, d, before) => selection(points.slice(), n, d, before));
const weightsOf = remembering(
  (points, n, d, /** @type {import("./selection.mjs").Weights | undefined} */ before, name, moment) =>
    weights(selectionOf(points, name, moment), n, d, before),
);
const hullThere = remembering((points, n, d, before) => hull(points.slice(), n, d, before));

/** The convex hull of where a cloud's points are now. @param {string} cloud @param {Moment} moment */
const hullOf = (cloud, moment) => hullThere(moment.at[cloud], cloud, moment);

/**
 * @type {WeakMap<Float64Array, {followed: number, found: import("./selection.mjs").Certificate}>} of the
 *   point that was followed last
 */
const certificates = new WeakMap();

/** What attention can give the followed point, and why. @param {string} cloud @param {Moment} moment */
export function certificateOf(cloud, { recipe, at, followed }) {
  const points = at[cloud];
  const n = sizeOf(recipe, cloud);
  const k = Math.min(followed, n - 1);
  const known = certificates.get(points);
  if (known?.followed === k) return known.found;
  const found = certificate(points, n, points.length / n || 1, k);
  certificates.set(points, { followed: k, found });
  return found;
}

/**
 * One number of each point of a cloud.
 * @param {Measure} measure
 * @param {string} cloud
 * @param {Moment} moment
 * @returns {Float32Array}
 */
export function measured(measure, cloud, moment) {
  const { recipe, stages, at, params } = moment;
  const n = sizeOf(recipe, cloud);
  if (!("kind" in measure)) return project([measure], stages[cloud], at[cloud], n, params);
  if (measure.kind === "softmaxweight")
    return softmax(project([measure.row], stages[cloud], at[cloud], n, params));
  if (measure.kind === "angle") return toMeanLine(at[cloud], n);
  const points = measure.stage === null ? at[cloud] : stages[cloud][measure.stage];
  return new Float32Array(weightsOf(points, cloud, moment).largest);
}

/**
 * The angle of each of n points to the line along 1, in degrees; 90 at the origin.
 * @param {Float64Array} points
 * @param {number} n
 */
function toMeanLine(points, n) {
  const d = points.length / n;
  return Float32Array.from({ length: n }, (_, i) => {
    let sum = 0;
    let squares = 0;
    for (let j = i * d; j < (i + 1) * d; j++) {
      sum += points[j];
      squares += points[j] ** 2;
    }
    return (Math.acos(squares > 0 ? Math.min(1, Math.abs(sum) / Math.sqrt(squares * d)) : 0) * 180) / Math.PI;
  });
}

/** @param {Float32Array} scores */
function softmax(scores) {
  const largest = Math.max(...scores);
  const each = scores.map((x) => Math.exp(x - largest));
  const sum = each.reduce((s, x) => s + x, 0);
  return each.map((x) => x / sum);
}

/**
 * The weights of a row: the query whose scores it is.
 * @param {Row} row
 * @param {Record<string, number>} params
 */
const vector = ({ weights }, params) => Array.from(Array.isArray(weights) ? weights : value(weights, params));

/**
 * ⟨query, key⟩ of every point.
 * @param {ArrayLike<number>} points
 * @param {number} n
 * @param {number[]} query
 */
function scoresOf(points, n, query) {
  const d = points.length / n;
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) for (let j = 0; j < query.length; j++) out[i] += query[j] * points[i * d + j];
  return out;
}

/** The middle and the edge of a supporting line or plane. @param {Mark} mark @param {Moment} moment */
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
  const ends = still(mark.rows, [...query.map(() => 0), ...query], 2, params);
  const shown = all(mark, moment);
  const middle = Array.from(shown.subarray(best * k, best * k + k));
  return facing(
    middle,
    middle.map((_, r) => ends[k + r] - ends[r]),
    mark.radius,
    mark.corners,
  );
}

/**
 * (length, weight) of the followed point for queries in a direction, of some lengths at the same distance.
 * @param {Mark} mark
 * @param {number[]} query @param {[number, number]} span @param {number} count @param {Moment} moment */
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

/**
 * Σ exp(length·(score − own)) of some lengths at the same distance: a product instead of an exponential for
 * each. By
 * itself, for in a function with closures V8 threw away what it had compiled in every frame.
 * @param {Float64Array} scores @param {number} own @param {number} low @param {number} step @param {number}
 *   count
 */
function exponentials(scores, own, low, step, count) {
  const sums = new Float64Array(count);
  for (let k = 0; k < scores.length; k++) {
    const over = scores[k] - own;
    const factor = Math.exp(step * over);
    for (let i = 0, term = Math.exp(low * over); i < count; i++, term *= factor) sums[i] += term;
  }
  return sums;
}

/** The middle of a disc, and its edge. @param {Mark} mark @param {Moment} moment */
function round({ cloud, rows, radius, corners }, { at, params }) {
  const points = disc(at[cloud], radius, corners);
  return still(rows, points, points.length / 3, params);
}

/**
 * Display coordinates of points that are no cloud's: they have been nowhere else. @param {Row[]} rows @param
 * {ArrayLike<number>} points
 * @param {number} n @param {Record<string, number>} params */
const still = (rows, points, n, params) => project(rows, [points], points, n, params);

/** Whether a click on a mark follows the point. @param {{hand: Hand | null}} mark */
export const follows = ({ hand }) => ["follow", "carry", "open"].includes(hand?.kind ?? "");

/** Whether a click on a mark does something. @param {{hand: Hand | null}} mark */
export const clickable = (mark) => follows(mark) || ["choose", "replay"].includes(mark.hand?.kind ?? "");

// What a frame shows

/** @type {WeakMap<Mark, {inputs: unknown[], points: Float32Array}>} what each mark showed last */
const shown = new WeakMap();

/**
 * The stages of another cloud that decides which points a mark shows.
 * @param {Mark} mark
 * @param {import("./engine.mjs").Stages} stages
 */
function seenBy({ only }, stages) {
  const of = only && typeof only === "object" && "of" in only ? only.of : "";
  return of ? stages[of] : null;
}

/** The marks that show points of their cloud and see no others. */
const PLAIN = new Set(["Points", "Line", "Mesh", "Sheet", "Labels"]);

/** Whether a mark is the same at every progress. @param {Mark} mark */
function rests({ mark, rows, only }) {
  const fixed = (/** @type {Row} */ row) => {
    while (row.over && row.stage !== null) row = row.over;
    return row.stage !== null;
  };
  return PLAIN.has(mark) && rows.every(fixed) && (!only || only === "followed" || Array.isArray(only));
}

/** @type {WeakMap<Mark, {still: boolean, names: string[], tinted: string[]}>} */
const natures = new WeakMap();

/**
 * Whether a mark rests, and the parameters that move its rows, and its colours: as long as it lives.
 * @param {Mark} mark
 */
function natureOf(mark) {
  const known = natures.get(mark);
  if (known) return known;
  const row = shading(mark);
  const names = rowMovers(mark.query ? [...mark.rows, mark.query] : mark.rows);
  const found = { still: rests(mark), names, tinted: row ? rowMovers([row]) : [] };
  natures.set(mark, found);
  return found;
}

/** The row by which a mark is coloured, if it is by one. @param {Mark} mark @returns {Row | null} */
function shading({ color }) {
  if (!color || "bdata" in color.of) return null;
  if (!("kind" in color.of)) return color.of;
  return "row" in color.of ? color.of.row : null;
}

/**
 * What a mark shows; where its cloud has not moved, the same array again.
 * @param {Mark} mark
 * @param {Moment} moment
 */
export function pointsOf(mark, moment) {
  const { stages, at, params, followed, progress } = moment;
  const known = shown.get(mark);
  const { still, names } = natureOf(mark);
  const inputs = [
    stages[mark.cloud],
    still ? null : at[mark.cloud],
    followed,
    mark.mark === "Trail" ? progress : 0,
    seenBy(mark, stages),
    ...names.map((name) => params[name]),
  ];
  if (known && inputs.every((input, i) => input === known.inputs[i])) return known.points;
  const points = MARKS[mark.mark](mark, moment);
  shown.set(mark, { inputs, points });
  return points;
}

/** @type {WeakMap<Mark, {inputs: unknown[], values: Float32Array}>} how each mark was coloured last */
const tints = new WeakMap();

/**
 * The colour value of each point that a mark shows, if it has any; the same array again while nothing has
 * moved.
 * @param {Mark} mark @param {Moment} moment */
export function valuesOf(mark, moment) {
  if (!mark.color) return null;
  const { stages, at, params, followed } = moment;
  const { of } = mark.color;
  const live = !("bdata" in of);
  const { cloud } = mark;
  const row = shading(mark);
  const now =
    (mark.only && !Array.isArray(mark.only)) || (live && (!row || row.stage === null || row.over))
      ? at[cloud]
      : null;
  const inputs = [
    now,
    of,
    followed,
    live ? stages[cloud] : null,
    seenBy(mark, stages),
    ...natureOf(mark).tinted.map((name) => params[name]),
  ];
  const known = tints.get(mark);
  if (known && inputs.every((input, i) => input === known.inputs[i])) return known.values;
  const each = live ? measured(of, cloud, moment) : /** @type {Float32Array} */ (unpack(of));
  const found = counted(mark.only)
    ? kept(each, 1, mark, moment)
    : mark.only
      ? gather(each, 1, chosen(mark, moment))
      : each;
  const values =
    known?.values.length === found.length && found.every((x, i) => Object.is(x, known.values[i]))
      ? known.values
      : found;
  tints.set(mark, { inputs, values });
  return values;
}

/** Opacity of a mark: one value a stage, linear between them. @param {Mark} mark @param {number} progress */
export function opacityOf({ opacity, fade }, progress) {
  if (!fade) return opacity;
  const k = Math.min(Math.floor(progress), fade.length - 1);
  const next = Math.min(k + 1, fade.length - 1);
  const f = progress - k;
  return opacity * ((1 - f) * fade[k] + f * fade[next]);
}
