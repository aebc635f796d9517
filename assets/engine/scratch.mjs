// @ts-check
/**
 * Scratch arrays: memory that steps share for their results, so that a frame allocates no memory. They differ
 * in how long their contents are valid:
 *
 * - `scratch(length, x)`, one of two buffers (benches): until the step after the next. A step reads its input
 *   from one bench and writes its output to the other.
 * - `desk(k, length)`: until the next step with branches at the same nesting depth.
 * - `differences(length)`: within one step.
 *
 * Results that must stay valid longer are copied into arrays of their own (engine.mjs).
 */

/** The two scratch buffers (benches) between which the steps of a cloud alternate for input and output. */
const benches = [new Float64Array(0), new Float64Array(0)];

/** A scratch array of `length` arbitrary numbers, in the one of the two buffers (benches) that does not hold
 * the array x. @param {number} length @param {Float64Array} [x] */
export function scratch(length, x) {
  const k = x?.buffer === benches[0].buffer ? 1 : 0;
  if (benches[k].length < length) benches[k] = new Float64Array(length);
  return benches[k].subarray(0, length);
}

/** Scratch arrays for steps with branches, three for each nesting depth: desk 3·depth is for the input of the
 * branches, and the two after it are for their joined output. @type {Float64Array[]} */
export const desks = [];

/** The first `length` numbers of the scratch array `desks[k]`. If it is too short, a new array of zeros
 * replaces it, and its contents are lost; otherwise the numbers are those written last, which need not be 0.
 * @param {number} k @param {number} length */
export function desk(k, length) {
  if (!(desks[k]?.length >= length)) desks[k] = new Float64Array(length);
  return desks[k].subarray(0, length);
}

/** Return the numbers of x in an array that the next steps do not overwrite. This is x itself, unless x lies
 * in one of the two buffers that all steps use (benches): then it is a copy in `desks[k]`.
 * @param {Float64Array} x @param {number} k */
export function onDesk(x, k) {
  if (!benches.some(({ buffer }) => buffer === x.buffer)) return x;
  const out = desk(k, x.length);
  out.set(x);
  return out;
}

let differencesArray = new Float64Array(0);

/** A scratch array of at least this length for use within one step: by `affine` for points minus their first
 * coordinate, and by `attention` for scores. @param {number} length */
export function differences(length) {
  if (differencesArray.length < length) differencesArray = new Float64Array(length);
  return differencesArray;
}
