// @ts-check
/**
 * Forward-mode automatic differentiation of a pipeline, by dual numbers x + ε·v with ε² = 0.
 *
 * Each step is applied in dual arithmetic, so that its result carries the derivative along v. Only scalar
 * functions have derivatives written by hand: `SLOPES`, `slope` in sphere.mjs, and in this file the
 * derivatives of 1/x and of the exponential in softmax. Mirrors geometry/dual.py.
 *
 * @typedef {{values: Float64Array, tangents: Float64Array}} Dual one coordinate of n points, and for each
 *   point the derivative of this coordinate along v
 */

import { FUNCTIONS, SLOPES } from "./functions.mjs";
import { affine, numbersOf } from "./matrices.mjs";
import { value } from "./packed.mjs";
import { sphereFactor } from "./sphere.mjs";
/** @import { Context, Step } from "./engine.mjs" */

/** The numbers f(0), …, f(n − 1); ten times as fast as `Float64Array.from`. @param {number} n
 * @param {(i: number) => number} f */
function filled(n, f) {
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) out[i] = f(i);
  return out;
}

/** The dual numbers values(i) + ε·tangents(i), for i < n. @param {number} n @param {(i: number) => number}
 * values @param {(i: number) => number} tangents @returns {Dual} */
const dual = (n, values, tangents) => ({ values: filled(n, values), tangents: filled(n, tangents) });

/** The dual numbers values(i) with derivative 0, for i < n. @param {number} n
 * @param {(i: number) => number} values */
const constant = (n, values) => ({ values: filled(n, values), tangents: new Float64Array(n) });

/** The sum of two dual numbers, for each point. @param {Dual} a @param {Dual} b */
const plus = (a, b) =>
  dual(
    a.values.length,
    (i) => a.values[i] + b.values[i],
    (i) => a.tangents[i] + b.tangents[i],
  );

/** The product of two dual numbers, for each point. @param {Dual} a @param {Dual} b */
const times = (a, b) =>
  dual(
    a.values.length,
    (i) => a.values[i] * b.values[i],
    (i) => a.tangents[i] * b.values[i] + a.values[i] * b.tangents[i],
  );

/** Apply a function to dual numbers, by the chain rule: the result at x + ε·v is f(x) + ε·f′(x)·v.
 * @param {Dual} a @param {(x: number) => number} f @param {(x: number, y: number) => number} slope f′(x),
 * given x and y = f(x) */
function lifted(a, f, slope) {
  const values = a.values.map((x) => f(x));
  return { values, tangents: a.tangents.map((v, i) => slope(a.values[i], values[i]) * v) };
}

/** The reciprocal of dual numbers. @param {Dual} a */
const inverse = (a) =>
  lifted(
    a,
    (x) => 1 / x,
    (_, y) => -y * y,
  );

/** Apply a pipeline f and its derivative to n pairs of a point p and a direction v. Returns the n pairs of
 * f(p) and J_f(p)·v, where J_f is the Jacobian matrix of f at p. In x and in the result, a pair is stored as
 * the coordinates of its first vector, then those of its second. @param {Float64Array} x the pairs
 * (p, v), one after the other @param {number} n @param {Step[]} steps of f @param {Context} context */
export function derivative(x, n, steps, context) {
  const d = x.length / n / 2 || 0;
  const start = Array.from({ length: d }, (_, j) =>
    dual(
      n,
      (i) => x[2 * d * i + j],
      (i) => x[2 * d * i + d + j],
    ),
  );
  const end = run(start, n, steps, context);
  const m = end.length;
  const out = new Float64Array(2 * m * n);
  end.forEach(({ values, tangents }, j) => {
    for (let i = 0; i < n; i++) {
      out[2 * m * i + j] = values[i];
      out[2 * m * i + m + j] = tangents[i];
    }
  });
  return out;
}

/**
 * Apply steps, one after the other, to n points in dual arithmetic.
 * @param {Dual[]} x the coordinates of the points, one `Dual` for each coordinate @param {number} n
 * @param {Step[]} steps @param {Context} context @returns {Dual[]}
 */
const run = (x, n, steps, context) => steps.reduce((now, step) => after(now, n, step, context), x);

/**
 * Apply one step to n points in dual arithmetic. Throws for kinds of steps that Python does not allow inside
 * a `Derivative`. @param {Dual[]} x one `Dual` for each coordinate; the result has the same form @param
 * {number} n @param {Step} step @param {Context} context @returns {Dual[]}
 */
function after(x, n, step, context) {
  switch (step.kind) {
    case "affine": {
      const [A, b] = numbersOf(step, context);
      const values = columns(affine(rows(x, n, "values"), n, A, b), n);
      const tangents = columns(affine(rows(x, n, "tangents"), n, A, null), n);
      return values.map((each, j) => ({ values: each, tangents: tangents[j] }));
    }
    case "pointwise":
      return x.map((each) => lifted(each, FUNCTIONS[step.function], SLOPES[step.function]));
    case "product":
      return step.groups.map((group) => group.map((j) => x[j]).reduce(times));
    case "softmax":
      return softmax(x, n, value(step.temperature, context.params)[0], step.causal, context.first);
    case "branches": {
      const results = step.pipelines.map((steps) => run(x, n, steps, context));
      if (step.join === "concat") return results.flat();
      return results.reduce((sum, each) => sum.map((a, j) => plus(a, each[j])));
    }
    case "normalize": {
      const out = [...x];
      for (const group of step.groups ?? [x.map((_, j) => j)]) {
        const [radius] = value(step.radius, context.params);
        const [eps] = value(step.eps, context.params);
        const { factor, slope } = sphereFactor(group.length, radius, eps, step.convention);
        const scale = lifted(group.map((j) => times(x[j], x[j])).reduce(plus), factor, slope);
        for (const j of group) out[j] = times(x[j], scale);
      }
      return out;
    }
    default:
      throw new Error(`a derivative through the step ${step.kind}`);
  }
}

/**
 * Softmax over the coordinates of each of n points, in dual arithmetic. At temperature 0 the derivative is 0,
 * and the largest coordinate gets 1; if several are largest, they share this 1 equally. With the causal mask,
 * point k of the cloud (from 0) uses only its first k + 1 coordinates, and the others become 0.
 * @param {Dual[]} x one `Dual` for each coordinate; the result has the same form @param {number} n
 * @param {number} temperature @param {boolean} causal @param {number} first the index of the first of these
 * points in its cloud
 */
function softmax(x, n, temperature, causal, first) {
  const seen = (/** @type {number} */ i, /** @type {number} */ j) => !causal || j <= first + i;
  const largest = constant(
    n,
    (i) => -Math.max(...x.filter((_, j) => seen(i, j)).map(({ values }) => values[i])),
  );
  const weights = x.map((each, j) => {
    const below = plus(each, largest);
    const weight = temperature
      ? lifted(
          below,
          (a) => Math.exp(a / temperature),
          (_, y) => y / temperature,
        )
      : constant(n, (i) => Number(!below.values[i]));
    return dual(
      n,
      (i) => (seen(i, j) ? weight.values[i] : 0),
      (i) => (seen(i, j) ? weight.tangents[i] : 0),
    );
  });
  const share = inverse(weights.reduce(plus));
  return weights.map((weight) => times(weight, share));
}

/** The values, or the tangents, of the dual coordinates of n points as one array, point by point.
 * @param {Dual[]} x one `Dual` for each coordinate @param {number} n @param {"values" | "tangents"} part */
function rows(x, n, part) {
  const out = new Float64Array(n * x.length);
  x.forEach((each, j) => {
    for (let i = 0; i < n; i++) out[i * x.length + j] = each[part][i];
  });
  return out;
}

/** Split an array of n points, one point after another, into one array for each coordinate.
 * @param {Float64Array} points @param {number} n */
function columns(points, n) {
  const m = points.length / n || 0;
  return Array.from({ length: m }, (_, j) => filled(n, (i) => points[i * m + j]));
}
