// @ts-check
/**
 * Scratch arrays in which steps compute, so that a frame allocates no memory, and how long each is valid:
 *
 * - `scratch(length, x)`, on one of two benches: until the step after the next. A step reads its input on one
 * bench and writes its output to the other.
 * - `desk(k, length)`: until the next step with branches at the same nesting depth.
 * - `differences(length)`: within one product of a matrix and points.
 *
 * No stage keeps one of them: engine.mjs copies longer-lived results into arrays of their own.
 */

/** The two buffers between which the steps of a cloud alternate. */
const benches = [new Float64Array(0), new Float64Array(0)];

/** A scratch array of `length` numbers, on the bench where x is not. @param {number} length
 * @param {Float64Array} [x] */
export function scratch(length, x) {
  const k = x?.buffer === benches[0].buffer ? 1 : 0;
  if (benches[k].length < length) benches[k] = new Float64Array(length);
  return benches[k].subarray(0, length);
}

/** The inputs and joined outputs of branches: three arrays for each nesting depth. @type {Float64Array[]} */
export const desks = [];

/**
 * The k-th scratch array for branches, with at least this length.
 * @param {number} k @param {number} length
 */
export function desk(k, length) {
  if (!(desks[k]?.length >= length)) desks[k] = new Float64Array(length);
  return desks[k].subarray(0, length);
}

/** x in memory that no step overwrites: moved from a bench to a desk. @param {Float64Array} x
 * @param {number} k */
export function onDesk(x, k) {
  if (!benches.some(({ buffer }) => buffer === x.buffer)) return x;
  const out = desk(k, x.length);
  out.set(x);
  return out;
}

let differencesArray = new Float64Array(0);

/** The scratch array of `affine` for points minus their first coordinate. @param {number} length */
export function differences(length) {
  if (differencesArray.length < length) differencesArray = new Float64Array(length);
  return differencesArray;
}
