// @ts-check
/**
 * Time slices: a computation that is too long for one frame is continued in the next ones, and until it is
 * done its last result is shown.
 *
 * Such a computation (`latest`) asks for time before each part of its work (`takeTime`), and keeps its parts.
 * Outside `sliced` there is always time, so everything is computed at once.
 */

/** Thrown in a computation for which this frame has no more time. */
class OutOfTime extends Error {}

/**
 * @typedef {(n: number) => boolean} More whether there is time for another part of a computation; n: the
 *   number of points that it moves
 */

/** @type {More} */ const always = () => true;
let hasTime = always;
let unfinished = false;
let begun = false; // whether a part has begun, in this frame or in an urgent computation

/**
 * Run a function, in which computations may begin a part of their work while there is time; the first part
 * may always begin, and so may the first part of each urgent computation. Also returns whether a computation
 * is unfinished: then the function should be run again in the next frame.
 *
 * @template T @param {More | undefined} more undefined: there is always time @param {() => T} run
 */
export function sliced(more, run) {
  begun = false;
  const granted = (/** @type {number} */ n) => {
    const may = Boolean(more?.(n)) || !begun;
    begun ||= may;
    return may;
  };
  hasTime = more ? granted : always;
  unfinished = false;
  try {
    const result = run();
    return { result, unfinished };
  } finally {
    hasTime = always;
  }
}

/** Called before each part of a long computation. @param {number} n as in `More` */
export function takeTime(n) {
  if (!hasTime(n)) throw new OutOfTime();
}

/**
 * @template T
 * @typedef {{done?: {inputs: unknown[], result: T}, doing?: {inputs: unknown[], compute: () => T}}} Slot the
 *   last result of a computation, and the one that has begun since
 */

/** Whether two lists have identical elements. @param {ArrayLike<unknown>} a @param {ArrayLike<unknown>} b */
export function same(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * The result of `compute` if there is time for it; otherwise the last result. A computation that has begun is
 * completed before one with other inputs begins, so that something new is shown now and then while a slider
 * moves. The very first result is computed at once.
 *
 * @template T @param {Slot<T>} slot @param {unknown[]} inputs @param {() => T} compute may be called several
 *   times; it then continues its work
 * @param {boolean} urgent whether the computation may begin a part in every frame @returns {T}
 */
export function latest(slot, inputs, compute, urgent) {
  if (!slot.done) {
    const before = hasTime;
    hasTime = always;
    try {
      slot.done = { inputs, result: compute() };
    } finally {
      hasTime = before;
    }
  }
  const known = same(slot.done.inputs, inputs);
  if (known || hasTime === always) slot.doing = undefined;
  if (known) return slot.done.result;
  if (urgent) begun = false;
  const doing = (slot.doing ??= { inputs, compute });
  try {
    slot.done = { inputs: doing.inputs, result: doing.compute() };
    slot.doing = undefined;
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
  }
  unfinished ||= !same(slot.done.inputs, inputs);
  return slot.done.result;
}
