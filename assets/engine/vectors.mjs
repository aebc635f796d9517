// @ts-check
/** Dot products, of two vectors or of one vector with many; the determinant; and scratch arrays that grow as
 * needed. Pure. */

/** The smallest normal double, used to avoid divisions by 0. */
export const TINY = 2 ** -1022;

/** The scratch array `kept.buffer`. If it has fewer than `length` numbers, it is first replaced by a new
 * array of this length. Callers reuse it, so that a frame allocates no memory. @param {{buffer:
 * Float64Array}} kept @param {number} length */
export function grown(kept, length) {
  if (kept.buffer.length < length) kept.buffer = new Float64Array(length);
  return kept.buffer;
}

/** The dot product of two vectors. @param {ArrayLike<number>} x @param {ArrayLike<number>} y */
export function dot(x, y) {
  let sum = 0;
  for (let j = 0; j < x.length; j++) sum += x[j] * y[j];
  return sum;
}

/** The determinant of three vectors in space; negative if they are left-handed.
 * @param {number[][]} vectors */
export const determinant = ([[a, b, c], [d, e, f], [g, h, i]]) =>
  a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);

/** Write the scores ⟨q, point⟩ of n points with d coordinates into `out`, and return the highest; −Infinity
 * if n is 0. @param {Float64Array} x the points, stored coordinate by coordinate @param {number} n
 * @param {number} d @param {number[]} q @param {Float64Array} out */
export function scores(x, n, d, q, out) {
  let highest = -Infinity;
  for (let i = 0; i < n; i++) out[i] = q[0] * x[i];
  for (let j = 1; j < d; j++) for (let i = 0, o = j * n; i < n; i++) out[i] += q[j] * x[o + i];
  for (let i = 0; i < n; i++) if (out[i] > highest) highest = out[i];
  return highest;
}
