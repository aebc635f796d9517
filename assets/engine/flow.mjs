// @ts-check
/**
 * Solve a differential equation for all points, as `Flow` in geometry/pipeline.py does.
 *
 * @typedef {Extract<Step, {kind: "flow"}>} Flow
 * @typedef {(x: Float64Array) => Float64Array} Velocity the derivative dx/dt of all points with respect to
 *   time, as a function of the points x
 *
 * @typedef {{time: number, point: number, place: number[]}} Node an event of the solution: the end of a
 *   Runge–Kutta step (then `point` is −1), or the moment at which the point with index `point` gets the
 *   direction of `place`
 * @typedef {{inputs: unknown[], nodes: Node[], states: Float64Array[]}} Run a solution. states: the points at
 *   each node, as far as they have been computed; inputs: the parameters and clouds that the velocity depends
 *   on
 */

import { unpack, value } from "./packed.mjs";
import { scratch } from "./scratch.mjs";
import { same, takeTime } from "./time_slices.mjs";
/** @import { Params, Step } from "./engine.mjs" */

// the largest number of cached solutions of a flow: the one shown, and those being computed
const KEPT_RUNS = 3;

/** @type {WeakMap<Flow, Run[]>} the cached solutions of each flow, the most recently used first */
const runs = new WeakMap();

/** Solve the differential equation of a flow, and return the n points at the time `step.until`. The points
 * start from x at the first of `step.times`; before this time they are x, and after the last they no longer
 * change. Runge–Kutta steps end at each of `step.times`; between these ends the solution is interpolated
 * linearly. Puts (`step.puts`) give single points another direction at given times, as when a reader drags a
 * point. Solutions are cached. If only the time has changed, a cached solution is continued; if a put has
 * changed, the solution is computed again from that put on. Calls `takeTime` (time_slices.mjs) before each
 * Runge–Kutta step. @param {Float64Array} x @param {number} n
 * @param {Flow} step @param {Params} params @param {unknown[]} inputs the parameter values and stages of
 * clouds on which the velocity depends @param {Velocity} velocity */
export function flow(x, n, step, params, inputs, velocity) {
  const until = value(step.until, params)[0];
  const { nodes, states } = runOf(step, x, nodesOf(step, n, params), inputs);
  const later = nodes.findIndex(({ time }) => time > until);
  const reached = (later < 0 ? nodes.length : later) - 1; // the index of the last node not after `until`
  const between = later > 0 && nodes[reached].time < until;
  const needed = between ? later : Math.max(reached, 0);
  for (let k = states.length; k <= needed; k++) {
    const { time, point, place } = nodes[k];
    if (point < 0) takeTime(n);
    states.push(
      point < 0
        ? rungeKutta(states[k - 1], time - nodes[k - 1].time, velocity)
        : put(states[k - 1], point, place),
    );
  }
  const out = scratch(x.length, x);
  out.set(states[needed]);
  if (!between) return out;
  const before = states[reached];
  const f = (until - nodes[reached].time) / (nodes[later].time - nodes[reached].time);
  for (let i = 0; i < out.length; i++) out[i] = (1 - f) * before[i] + f * out[i];
  return out;
}

/** @type {WeakMap<Flow, {n: number, values: Readonly<Float64Array>[], nodes: Node[]}>} results of
 * `nodesOf` */
const latestNodes = new WeakMap();

/** The nodes of a flow's solution for n points at these parameters: the ends of Runge–Kutta steps, and the
 * moments of puts. The same array object is returned until a parameter on which a put depends changes.
 * @param {Flow} step @param {number} n @param {Params} params @returns {Node[]} in the order of time */
function nodesOf(step, n, params) {
  const values = step.puts.flatMap(({ point, time, place }) =>
    [point, time, place].map((each) => value(each, params)),
  );
  const known = latestNodes.get(step);
  if (known?.n === n && same(known.values, values)) return known.nodes;
  const nodes = ordered(step, n, params);
  latestNodes.set(step, { n, values, nodes });
  return nodes;
}

/** Compute the nodes of a solution: the ends of all Runge–Kutta steps, and the moments at which a point gets
 * another direction (puts). At each such moment a Runge–Kutta step ends, too. Puts before the first time
 * count as at the first time. Puts of points that do not exist, or after the last time, are left out.
 * @param {Flow} step @param {number} n the number of points @param {Params} params @returns {Node[]} in the
 * order of time */
function ordered({ times, puts }, n, params) {
  const ends = [...unpack(times)];
  const [first, last] = [ends[0], ends[ends.length - 1]];
  const moved = puts
    .map(({ point, time, place }) => ({
      time: Math.max(value(time, params)[0], first),
      point: rounded(value(point, params)[0]),
      place: [...value(place, params)],
    }))
    .filter(({ time, point }) => point >= 0 && point < n && time <= last);
  const every = new Set([...ends, ...moved.map(({ time }) => time)]);
  return [...[...every].map((time) => ({ time, point: -1, place: [] })), ...moved].sort(
    (a, b) => a.time - b.time,
  );
}

/** Round a number to the nearest whole number. Halfway between two whole numbers, the even one is taken, as
 * by Python's `round`. @param {number} x */
function rounded(x) {
  const near = Math.round(x);
  return near - x === 0.5 && near % 2 ? near - 1 : near;
}

/** The solution from x with these nodes and inputs: the cached one or, if there is none, a new one, which is
 * cached. A new solution begins with the states that it shares with an earlier solution, or with x alone.
 * @param {Flow} step @param {Float64Array} x the points at the start @param {Node[]} nodes
 * @param {unknown[]} inputs @returns {Run} */
function runOf(step, x, nodes, inputs) {
  const kept = runs.get(step) ?? [];
  const alike = kept.filter((run) => same(run.inputs, inputs) && same(run.states[0], x));
  let run = alike.find((each) => each.nodes === nodes);
  if (!run) {
    const states = alike
      .map((each) => each.states.slice(0, common(each, nodes)))
      .reduce((a, b) => (b.length > a.length ? b : a), [Float64Array.from(x)]);
    run = { inputs, nodes, states };
  }
  runs.set(step, [run, ...kept.filter((each) => each !== run)].slice(0, KEPT_RUNS));
  return run;
}

/** The number of states of the solution `run` that can be reused in a solution with other nodes. State k can
 * be reused if the nodes 0 to k of both solutions are equal. @param {Run} run @param {Node[]} nodes of the
 * other solution */
function common(run, nodes) {
  const alike = (/** @type {Node} */ a, /** @type {Node} */ b) =>
    a.time === b.time && a.point === b.point && same(a.place, b.place);
  let k = 1;
  while (k < run.states.length && k < nodes.length && alike(nodes[k], run.nodes[k])) k++;
  return k;
}

/** A copy of the points x in which one point has the direction of `place`, and its own length as before; if
 * `place` is the zero vector, the point is unchanged. @param {Float64Array} x @param {number} point its index
 * @param {number[]} place */
function put(x, point, place) {
  const d = place.length;
  const out = Float64Array.from(x);
  const own = out.subarray(point * d, (point + 1) * d);
  const far = Math.hypot(...place);
  if (!far) return out;
  const length = Math.hypot(...own);
  own.set(place.map((each) => (length * each) / far));
  return out;
}

/** Return the points after one step of the classical fourth-order Runge–Kutta method for dx/dt = f(x).
 * @param {Float64Array} x the points before the step @param {number} h the length of the step, in time
 * @param {Velocity} f */
function rungeKutta(x, h, f) {
  const ahead = (/** @type {Float64Array} */ v, /** @type {number} */ part) =>
    x.map((each, i) => each + part * h * v[i]);
  const a = f(x);
  const b = f(ahead(a, 0.5));
  const c = f(ahead(b, 0.5));
  const d = f(ahead(c, 1));
  return x.map((each, i) => each + (h / 6) * (a[i] + 2 * b[i] + 2 * c[i] + d[i]));
}
