// @ts-check
/** The scalar functions that `Pointwise` steps apply, such as GELU, and their derivatives. */

/** The error function erf(a) for 0 ≤ a < 2, as a Gaussian times a power series. All terms of the series are
 * positive, so no digits are lost to cancellation. @param {number} a */
function erfSeries(a) {
  let term = a;
  let sum = a;
  for (let n = 1, before = 0; sum !== before; n++) {
    before = sum;
    term *= (2 * a * a) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-a * a) * sum;
}

/** The complementary error function erfc(a) for a ≥ 2, by Laplace's continued fraction. It is accurate also
 * for large a, where 1 − erf(a) would be rounded to 0. @param {number} a */
function erfcFraction(a) {
  let fraction = 0;
  for (let k = 50; k > 0; k--) fraction = k / 2 / (a + fraction);
  return Math.exp(-a * a) / Math.sqrt(Math.PI) / (a + fraction);
}

/** The error function. @param {number} x */
function erf(x) {
  const a = Math.abs(x);
  return Math.sign(x) * (a < 2 ? erfSeries(a) : 1 - erfcFraction(a));
}

/** The complementary error function 1 − erf(x). @param {number} x */
const erfc = (x) => (x < 2 ? 1 - erf(x) : erfcFraction(x));

const TABLE_STEPS = 128; // table entries of tanh per unit
const TANH_IS_ONE = 20; // above this tanh rounds to 1 in double precision
const TANH = Float64Array.from({ length: 2 * TANH_IS_ONE * TABLE_STEPS + 1 }, (_, k) =>
  Math.tanh(k / TABLE_STEPS - TANH_IS_ONE),
);

/** The hyperbolic tangent of x, accurate to a few rounding errors, and three times as fast as `Math.tanh`.
 * Writes x = a + t, with a in a table and t small: tanh(a + t) = (tanh a + tanh t)/(1 + tanh a · tanh t).
 * @param {number} x */
export function tanh(x) {
  if (!(x > -TANH_IS_ONE && x < TANH_IS_ONE)) return Math.tanh(x);
  // Math.round would take longer than all the rest
  const k = (TABLE_STEPS * x + TANH_IS_ONE * TABLE_STEPS + 0.5) | 0;
  const t = x - (k / TABLE_STEPS - TANH_IS_ONE);
  const square = t * t;
  const known = TANH[k];
  const rest = t * (1 - square * (1 / 3 - square * (2 / 15)));
  return (known + rest) / (1 + known * rest);
}

const GELU_SCALE = Math.sqrt(2 / Math.PI); // a factor in GPT-2's approximation of GELU by tanh
const LOG_FLOOR = 1e-12; // lower limit of a logarithm's argument

/** The scalar functions of `Pointwise` steps, by the names that recipes use. An argument outside a function's
 * domain is clipped to the domain (for a logarithm, to LOG_FLOOR or more); the reciprocal of 0 is 0. @type
 * {Record<string, (x: number) => number>} */
export const FUNCTIONS = {
  identity: (x) => x,
  abs: Math.abs,
  tanh,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  erf,
  sin: Math.sin,
  cos: Math.cos,
  arcsin: (x) => Math.asin(Math.max(-1, Math.min(1, x))),
  arctan: Math.atan,
  sqrt: (x) => (x <= 0 ? 0 : Math.sqrt(x)),
  log10: (x) => Math.log10(x > LOG_FLOOR ? x : LOG_FLOOR),
  reciprocal: (x) => (x ? 1 / x : 0),
  round: (x) => Math.floor(x + 0.5),
  relu: (x) => (x <= 0 ? 0 : x),
  entr: (x) => (x <= 0 ? 0 : -x * Math.log(x)),
  gelu: (x) => (x / 2) * erfc(-x / Math.SQRT2),
  gelu_tanh: (x) => (x / 2) * (1 + tanh(GELU_SCALE * (x + 0.044715 * x * x * x))),
};

/** The derivatives of FUNCTIONS, by the same names: each takes x and the function's value y at x, and returns
 * the derivative at x. It is 0 where FUNCTIONS clips the argument, and at x = 0 if the function has no
 * derivative there. @type {Record<string, (x: number, y: number) => number>} */
export const SLOPES = {
  identity: () => 1,
  abs: (x) => Math.sign(x),
  tanh: (_, y) => 1 - y * y,
  sigmoid: (_, y) => y * (1 - y),
  erf: (x) => (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x),
  sin: (x) => Math.cos(x),
  cos: (x) => -Math.sin(x),
  arcsin: (x) => (Math.abs(x) <= 1 ? 1 / Math.sqrt(1 - x * x) : 0),
  arctan: (x) => 1 / (1 + x * x),
  sqrt: (x, y) => (x <= 0 ? 0 : 0.5 / y),
  log10: (x) => (x > LOG_FLOOR ? 1 / (x * Math.LN10) : 0),
  reciprocal: (_, y) => -y * y,
  round: () => 0,
  relu: (x) => (x <= 0 ? 0 : 1),
  entr: (x) => (x <= 0 ? 0 : -Math.log(x) - 1),
  gelu: (x) => erfc(-x / Math.SQRT2) / 2 + (x * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI),
  gelu_tanh: (x) => {
    const t = tanh(GELU_SCALE * (x + 0.044715 * x * x * x));
    return (1 + t + x * (1 - t * t) * GELU_SCALE * (1 + 3 * 0.044715 * x * x)) / 2;
  },
};
