// @ts-check
/**
 * Solve a differential equation for all points, as `Flow` in geometry/pipeline.py.
 *
 * @typedef {import("./engine.mjs").Params} Params
 * @typedef {Extract<import("./engine.mjs").Step, {kind: "flow"}>} Flow
 * @typedef {(x: Float64Array) => Float64Array} Velocity
 *
 * @typedef {{time: number, point: number, place: number[]}} Node the time at which a step ends (point −1), or
 *   at which a point is put to a place
 * @typedef {{inputs: unknown[], nodes: Node[], states: Float64Array[]}} Run the states that were computed so
 *   far; inputs: the parameters and clouds that the velocity depends on
 */

import { unpack, value } from "./packed.mjs";
import { scratch } from "./scratch.mjs";

/** @type {WeakMap<Flow, Run>} */
const runs = new WeakMap();

/** Whether two lists have identical elements. @param {ArrayLike<unknown>} a @param {ArrayLike<unknown>} b */
function same(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** The points at the time that the parameters say. The run is cached: it is continued while only the time
 * changes, and repeated from where a point is put elsewhere. @param {Float64Array} x @param {number} n
 * @param {Flow} step @param {Params} params @param {unknown[]} inputs of the velocity
 * @param {Velocity} velocity */
export function flow(x, n, step, params, inputs, velocity) {
  const until = value(step.until, params)[0];
  const nodes = nodesOf(step, n, params);
  const states = statesOf(step, x, nodes, inputs);
  const after = nodes.findIndex(({ time }) => time > until);
  const needed = after < 0 ? nodes.length - 1 : after;
  for (let k = states.length; k <= needed; k++) {
    const { time, point, place } = nodes[k];
    states.push(
      point < 0
        ? rungeKutta(states[k - 1], time - nodes[k - 1].time, velocity)
        : put(states[k - 1], point, place),
    );
  }
  const out = scratch(x.length, x);
  out.set(states[needed]);
  if (after <= 0) return out;
  const before = states[after - 1];
  const f = (until - nodes[after - 1].time) / (nodes[after].time - nodes[after - 1].time);
  for (let i = 0; i < out.length; i++) out[i] = (1 - f) * before[i] + f * out[i];
  return out;
}

/**
 * The times at which a step ends, or at which a point is put elsewhere.
 * @param {Flow} step @param {number} n @param {Params} params @returns {Node[]} in the order of time
 */
function nodesOf({ times, puts }, n, params) {
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

/** The nearest whole number; of two the even one, as in Python. @param {number} x */
function rounded(x) {
  const near = Math.round(x);
  return near - x === 0.5 && near % 2 ? near - 1 : near;
}

/** The states that are known for these nodes. @param {Flow} step @param {Float64Array} x
 * @param {Node[]} nodes @param {unknown[]} inputs */
function statesOf(step, x, nodes, inputs) {
  const run = runs.get(step);
  if (!run || !same(run.inputs, inputs) || !same(run.states[0], x)) {
    const states = [Float64Array.from(x)];
    runs.set(step, { inputs, nodes, states });
    return states;
  }
  let k = 1;
  const alike = (/** @type {Node} */ a, /** @type {Node} */ b) =>
    a.time === b.time && a.point === b.point && same(a.place, b.place);
  while (k < run.states.length && k < nodes.length && alike(nodes[k], run.nodes[k])) k++;
  run.states.length = Math.min(run.states.length, k);
  run.nodes = nodes;
  return run.states;
}

/** A copy of the points x in which one gets the direction of `place`, and keeps its length.
 * @param {Float64Array} x
 * @param {number} point @param {number[]} place */
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

/** A classical Runge–Kutta step of fourth order. @param {Float64Array} x @param {number} h
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
