// @ts-check
/**
 * Apply pipeline steps to the points of a cloud: one function for each kind of step. (derivative.mjs has the
 * same steps in dual arithmetic.)
 *
 * In all functions x holds n points one after the other, x.length / n coordinates each. `depth` says how
 * deep a step is nested in other steps (`branches`, `orbit`, `flow`); each depth has scratch arrays of its
 * own, which are called desks and benches (scratch.mjs).
 */

import { derivative } from "./derivative.mjs";
import { flow } from "./flow.mjs";
import { FUNCTIONS, tanh } from "./functions.mjs";
import { affine, numbersOf } from "./matrices.mjs";
import { movers, value } from "./packed.mjs";
import { desk, desks, differences, onDesk, scratch } from "./scratch.mjs";
import { sphereFactor } from "./sphere.mjs";
/** @import { Context, Step } from "./engine.mjs" */

/** Normalise each point, in place: v ↦ R·v / r(v), where r(v) is the length of v with ε added as the
 * convention says (sphere.mjs). With groups of coordinate indices, each group is normalised by itself. The
 * zero vector stays 0. @param {Float64Array} x the points @param {number} n their number
 * @param {number} radius R @param {number} eps ε @param {number[][] | null} groups @param {string} convention
 */
function normalize(x, n, radius, eps, groups, convention) {
  const d = x.length / n || 1;
  for (const group of groups ?? [null]) {
    const size = group ? group.length : d;
    const firstIndex = group ? group[0] : 0;
    const { factor } = sphereFactor(size, radius, eps, convention);
    const contiguous = !group || group.every((j, g) => j === firstIndex + g);
    for (let i = 0, at = firstIndex; i < n; i++, at += d) {
      let squares = 0;
      if (contiguous) for (let j = at; j < at + size; j++) squares += x[j] * x[j];
      else
        for (let g = 0; g < size; g++) {
          const v = x[at - firstIndex + group[g]];
          squares += v * v;
        }
      const scale = factor(squares);
      if (contiguous) for (let j = at; j < at + size; j++) x[j] *= scale;
      else for (let g = 0; g < size; g++) x[at - firstIndex + group[g]] *= scale;
    }
  }
  return x;
}

/** Apply a scalar function to each coordinate, in place. tanh and relu are applied many times per frame. They
 * are written out here, because looking them up in FUNCTIONS and calling them there takes longer than
 * computing them. @param {Float64Array} x the points, one after the other @param {string} name a key of
 * FUNCTIONS */
function pointwise(x, name) {
  const f = FUNCTIONS[name];
  if (name === "tanh") for (let i = 0; i < x.length; i++) x[i] = tanh(x[i]);
  else if (name === "relu") for (let i = 0; i < x.length; i++) x[i] = x[i] <= 0 ? 0 : x[i];
  else for (let i = 0; i < x.length; i++) x[i] = f(x[i]);
  return x;
}

/** Multiply the coordinates within each group: the result has one coordinate for each group.
 * @param {Float64Array} x the points @param {number} n their number @param {number[][]} groups of coordinate
 * indices */
function product(x, n, groups) {
  const d = x.length / n || 1;
  const m = groups.length;
  const y = scratch(n * m, x);
  for (let g = 0; g < m; g++) {
    const [first, ...others] = groups[g];
    for (let i = 0; i < n; i++) y[i * m + g] = x[i * d + first];
    for (const j of others) for (let i = 0; i < n; i++) y[i * m + g] *= x[i * d + j];
  }
  return y;
}

/** Softmax over the coordinates of each point, in place. At temperature 0 the largest coordinate gets 1; if
 * several are largest, they share it equally. With the causal mask, point k of the cloud (from 0) uses only
 * its first k + 1 coordinates, and the others become 0. @param {Float64Array} x the points @param {number} n
 * their number @param {number} temperature @param {boolean} causal @param {number} firstPoint the index of
 * the first of these points in its cloud */
function softmax(x, n, temperature, causal, firstPoint) {
  const d = x.length / n || 1;
  for (let i = 0, at = 0; i < n; i++, at += d) {
    const end = at + (causal ? Math.min(firstPoint + i + 1, d) : d);
    let largest = -Infinity;
    let sum = 0;
    for (let j = at; j < end; j++) if (x[j] > largest) largest = x[j];
    for (let j = at; j < end; j++)
      sum += x[j] = temperature ? Math.exp((x[j] - largest) / temperature) : Number(x[j] === largest);
    for (let j = at; j < end; j++) x[j] /= sum;
    for (let j = end; j < at + d; j++) x[j] = 0;
  }
  return x;
}

// weights below e⁻⁴⁰ times the largest are skipped, because they would not change a sum in doubles
const NEGLIGIBLE_LOG_WEIGHT = -40;

/** Self-attention among n points. The coordinates of each are its query, its key and its value, in this
 * order. A score is the dot product of a query and a key, without the usual factor 1/√keys; the attention
 * weights are the softmax of the scores. Returns for each point the attention-weighted average of the values,
 * and after it the attention weight that the point gives itself. @param {Float64Array} x the points
 * @param {number} n @param {number} keys the number of coordinates of a query, and of a key
 * @param {boolean} causal whether a point attends only to itself and to earlier points */
function attention(x, n, keys, causal) {
  const d = x.length / n || 1;
  const m = d - 2 * keys;
  const y = scratch(n * (m + 1), x);
  const scores = differences(n);
  y.fill(0);
  for (let i = 0; i < n; i++) {
    const end = causal ? i + 1 : n;
    let largest = -Infinity;
    for (let j = 0, key = keys; j < end; j++, key += d) {
      let score = 0;
      for (let c = 0; c < keys; c++) score += x[i * d + c] * x[key + c];
      scores[j] = score;
      if (score > largest) largest = score;
    }
    const to = i * (m + 1);
    let sum = 0;
    for (let j = 0, from = 2 * keys; j < end; j++, from += d) {
      const below = scores[j] - largest;
      if (below < NEGLIGIBLE_LOG_WEIGHT && j !== i) continue;
      const weight = below === 0 ? 1 : Math.exp(below);
      sum += weight;
      for (let c = 0; c < m; c++) y[to + c] += weight * x[from + c];
      if (j === i) y[to + m] = weight;
    }
    for (let c = 0; c <= m; c++) y[to + c] /= sum;
  }
  return y;
}

/** The number of coordinates that a point has after these steps, if it has d coordinates before them. @param
 * {Step[]} steps @param {number} d @returns {number} */
const widthAfter = (steps, d) =>
  steps.reduce((now, step) => {
    switch (step.kind) {
      case "affine":
        return "of" in step.A ? step.A.shape[0] : step.A.base.shape[0];
      case "product":
        return step.groups.length;
      case "placed":
        return step.names[0].length;
      case "orbit":
        return step.state;
      case "attention":
        return now - 2 * step.keys + 1;
      case "derivative":
        return 2 * widthAfter(step.pipeline, now / 2);
      case "branches":
        return step.join === "sum"
          ? widthAfter(step.pipelines[0], now)
          : step.pipelines.reduce((sum, each) => sum + widthAfter(each, now), 0);
      default:
        return now;
    }
  }, d);

/** @type {WeakMap<Step[][], {d: number, widths: number[]}>} results of `widthsOf` */
const widthCache = new WeakMap();

/** The number of coordinates that each pipeline returns for a point with d coordinates; cached.
 * @param {Step[][]} pipelines the steps of each @param {number} d */
function widthsOf(pipelines, d) {
  const known = widthCache.get(pipelines);
  if (known?.d === d) return known.widths;
  const widths = pipelines.map((steps) => widthAfter(steps, d));
  widthCache.set(pipelines, { d, widths });
  return widths;
}

/** Apply several pipelines to the same points. Then add their results (join "sum"), or put the coordinates of
 * the results side by side ("concat"). @param {Float64Array} x the points @param {number} n their number
 * @param {Step[][]} pipelines @param {string} join @param {Context} context @param {number} depth the nesting
 * depth of the branches */
function branches(x, n, pipelines, join, context, depth) {
  const [only, ...others] = pipelines;
  if (!others.length && only.length) return branch(x, n, only, only.length, context, depth);
  const d = x.length / n || 1;
  const concat = join === "concat";
  const widths = widthsOf(pipelines, d);
  // each nesting depth has three desks, because the steps inside the branches overwrite the benches: one desk
  // for the input, and two for outputs; if x is the output of earlier branches at this depth, it is on one of
  // these two, and the result goes to the other
  const start = onDesk(x, 3 * depth);
  const m = concat ? widths.reduce((a, b) => a + b) : widths[0];
  const outDesk = 3 * depth + 1;
  const out = desk(outDesk + Number(desks[outDesk]?.buffer === start.buffer), n * m);
  for (let k = 0, from = 0; k < pipelines.length; k++) {
    // if the last step of a branch is affine, it writes directly into the result
    const steps = pipelines[k];
    const last = steps.at(-1);
    const directAffine = (!k || concat) && last?.kind === "affine" ? last : null;
    const y = branch(start, n, steps, directAffine ? steps.length - 1 : steps.length, context, depth + 1);
    if (directAffine) affine(y, n, ...numbersOf(directAffine, context), { at: out, from, stride: m });
    else if (!k || concat) into(out, from, m, y, widths[k]);
    else for (let i = 0; i < y.length; i++) out[i] += y[i];
    if (concat) from += widths[k];
  }
  return out;
}

/** Apply the first `count` steps of a branch to n points; x itself stays unchanged. If `count` is 0, returns
 * x. @param {Float64Array} x @param {number} n @param {Step[]} steps @param {number} count
 * @param {Context} context @param {number} depth the nesting depth */
function branch(x, n, steps, count, context, depth) {
  let y = x;
  if (count && IN_PLACE_STEPS.has(steps[0].kind)) {
    y = scratch(x.length, x);
    y.set(x);
  }
  for (let s = 0; s < count; s++) y = apply(y, n, steps[s], context, depth);
  return y;
}

/** Apply an `orbit` step: iterate a pipeline, and return the state after each iteration as a separate point.
 * The state of point 0 is its first `step.state` coordinates. Iteration k applies the pipeline to one vector:
 * the state of point k − 1, then the coordinates of point k after the first `step.state`. The result is the
 * state of point k. After `step.count` iterations the state no longer changes: each later point has the same
 * state as the point before it. If `step.count` is not a whole number, the last iteration makes only a share
 * of its change, which is the fractional part of `step.count`. @param {Float64Array} x the points @param
 * {number} n their number @param {Extract<Step, {kind: "orbit"}>} step @param {Context} context
 * @param {number} depth the nesting depth */
function orbit(x, n, { pipeline, state, count }, context, depth) {
  const d = x.length / n || 1;
  const inputs = Float64Array.from(x); // a copy, because the steps inside use the same scratch arrays
  const out = new Float64Array(n * state);
  const pair = new Float64Array(d);
  const rounds = value(count, context.params)[0];
  out.set(inputs.subarray(0, state));
  for (let k = 1; k < n; k++) {
    const now = out.subarray((k - 1) * state, k * state);
    const part = Math.min(Math.max(rounds - k + 1, 0), 1);
    out.set(now, k * state);
    if (!part) continue;
    pair.set(now);
    pair.set(inputs.subarray(k * d + state, (k + 1) * d), state);
    /** @type {Float64Array} */ let y = pair;
    for (const each of pipeline) y = apply(y, 1, each, context, depth);
    for (let j = 0; j < state; j++) out[k * state + j] += part * (y[j] - now[j]);
  }
  return out;
}

/** Apply a `flow` step: solve the differential equation dx/dt = velocity(x) for n points up to the time
 * `step.until`, and return the points at this time. @param {Float64Array} x @param {number} n
 * @param {Extract<Step, {kind: "flow"}>} step @param {Context} context @param {number} depth the nesting
 * depth */
function applyFlow(x, n, step, context, depth) {
  const inner = flattened(step.velocity);
  const inputs = [
    ...parametersOf(inner).map((name) => context.params[name]),
    ...sourcesOf(inner).map((name) => context.all[name]),
  ];
  return flow(x, n, step, context.params, inputs, (at) => {
    /** @type {Float64Array} */ let y = Float64Array.from(at);
    for (const each of step.velocity) y = apply(y, n, each, context, depth);
    return Float64Array.from(y);
  });
}

/** List all steps that contain numbers (which may depend on parameters), those inside other steps included.
 * `branches` and `derivative` only contain other steps, and are replaced by these; `orbit` and `flow` are
 * kept, each followed by the steps inside it. @param {Step[]} steps @returns {Step[]} */
export const flattened = (steps) =>
  steps.flatMap((step) => {
    switch (step.kind) {
      case "branches":
        return step.pipelines.flatMap(flattened);
      case "derivative":
        return flattened(step.pipeline);
      case "orbit":
        return [step, ...flattened(step.pipeline)];
      case "flow":
        return [step, ...flattened(step.velocity)];
      default:
        return [step];
    }
  });

/** The names of the parameters on which steps depend; a name can occur several times. A `placed` step lists
 * the names itself. For the other steps, and for the puts of a flow, all fields are searched for entries,
 * which are the numbers that can depend on parameters. @param {Step[]} steps as returned by `flattened` */
export const parametersOf = (steps) =>
  steps.flatMap((step) =>
    step.kind === "placed"
      ? step.names.flat()
      : [step, ...(step.kind === "flow" ? step.puts : [])].flatMap((each) =>
          Object.values(each).flatMap(movers),
        ),
  );

/** The names of the clouds whose points these steps use as matrices (`Of`). @param {Step[]} steps as returned
 * by `flattened` */
export const sourcesOf = (steps) =>
  steps.flatMap((step) => (step.kind === "affine" && "of" in step.A ? [step.A.of] : []));

/** Copy a matrix y into columns of a wider matrix `out`, beginning at column `from`. The rows of y have
 * `length` numbers, and those of `out` have m. @param {Float64Array} out @param {number} from
 * @param {number} m @param {Float64Array} y @param {number} length */
function into(out, from, m, y, length) {
  for (let at = 0; at < y.length; at += length, from += m)
    for (let j = 0; j < length; j++) out[from + j] = y[at + j];
}

/** The kinds of steps whose functions overwrite their input with their result. */
export const IN_PLACE_STEPS = new Set(["pointwise", "softmax", "normalize"]);

/** Apply a step to n points. The result is x itself, overwritten, for IN_PLACE_STEPS; otherwise another
 * array, usually a scratch array that later steps overwrite. @param {Float64Array} x the points, one after
 * the other @param {number} n @param {Step} step @param {Context} context @param {number} [depth] the nesting
 * depth of branches @returns {Float64Array} */
export function apply(x, n, step, context, depth = 0) {
  switch (step.kind) {
    case "affine":
      return affine(x, n, ...numbersOf(step, context));
    case "pointwise":
      return pointwise(x, step.function);
    case "product":
      return product(x, n, step.groups);
    case "softmax":
      return softmax(x, n, value(step.temperature, context.params)[0], step.causal, context.first);
    case "placed": {
      const m = step.names[0].length;
      const out = scratch(n * m, x);
      for (let i = 0; i < n * m; i++)
        out[i] = context.params[step.names[context.first + Math.floor(i / m)][i % m]];
      return out;
    }
    case "attention":
      return attention(x, n, step.keys, step.causal);
    case "orbit":
      return orbit(x, n, step, context, depth + 1);
    case "flow":
      return applyFlow(x, n, step, context, depth + 1);
    case "derivative":
      return derivative(x, n, step.pipeline, context);
    case "branches":
      return branches(x, n, step.pipelines, step.join, context, depth);
    default:
      return normalize(
        x,
        n,
        value(step.radius, context.params)[0],
        value(step.eps, context.params)[0],
        step.groups,
        step.convention,
      );
  }
}
