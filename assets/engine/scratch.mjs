// @ts-check
/**
 * Scratch arrays that the steps compute in, so that a frame allocates no memory, and how long each lasts:
 *
 * - `scratch(length, x)`, on one of two benches: until the next step but one. A step reads its input on one
 *   bench and writes its output to the other.
 * - `desk(k, length)`: until the next step that has branches, at the same depth of branches within branches.
 * - `differences(length)`: within one product of a matrix and points.
 *
 * No stage keeps one of them: engine.mjs copies what lasts longer into an array of its own.
 */

/** Two benches that a cloud goes to and fro on: no memory is asked for in a frame. */
const benches = [new Float64Array(0), new Float64Array(0)];

/** A scratch array of so many numbers, on the bench that x is not on. @param {number} length
 * @param {Float64Array} [x] */
export function scratch(length, x) {
  const k = x?.buffer === benches[0].buffer ? 1 : 0;
  if (benches[k].length < length) benches[k] = new Float64Array(length);
  return benches[k].subarray(0, length);
}

/** Where branches come from, and where they are joined: three for each depth of branches within branches.
 * @type {Float64Array[]} */
export const desks = [];

/** @param {number} k @param {number} length */
export function desk(k, length) {
  if (!(desks[k]?.length >= length)) desks[k] = new Float64Array(length);
  return desks[k].subarray(0, length);
}

/** x where no step changes it: what is on a bench is moved to a desk. @param {Float64Array} x
 * @param {number} k */
export function kept(x, k) {
  if (!benches.some(({ buffer }) => buffer === x.buffer)) return x;
  const out = desk(k, x.length);
  out.set(x);
  return out;
}

let differencesArray = new Float64Array(0);

/** The scratch array for points less their first coordinate each, in `affine`. @param {number} length */
export function differences(length) {
  if (differencesArray.length < length) differencesArray = new Float64Array(length);
  return differencesArray;
}
