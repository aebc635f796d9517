// @ts-check
/**
 * Time slices: a computation that takes too long for one frame is continued in the following frames, and
 * until it is complete its previous result is shown.
 *
 * Such a computation is run by `latest`. It consists of parts: it calls `takeTime` before each, and keeps the
 * results of complete parts. A frame runs inside `sliced`, which says how much time there is; outside
 * `sliced` there is always time, and everything is computed at once.
 */

/** The exception that interrupts a computation for which this frame has no more time. */
class OutOfTime extends Error {}

/**
 * @typedef {(n: number) => boolean} More a function that says whether there is time for another part of a
 *   computation in this frame. n: the number of points that this part moves
 */

/** @type {More} */ const always = () => true;
let hasTime = always;
let unfinished = false;
let begun = false; // whether a part has begun since the frame, or the last urgent computation, began

/**
 * Run a function, such as the work of a frame, with limited time. The long computations in it begin a new
 * part of their work only while `more` says that there is time. So that every frame makes progress, two kinds
 * of parts may always begin: the first part in the frame, and the first part of each computation that is
 * marked as urgent (see `latest`). Returns the function's result, and whether a computation is unfinished: if
 * so, run the function again in the next frame.
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

/** Ask for time before each part of a long computation. Throws OutOfTime if this frame has no time for the
 * part; `latest` catches the exception and continues the computation in the next frame. @param {number} n the
 * number of points that the part moves */
export function takeTime(n) {
  if (!hasTime(n)) throw new OutOfTime();
}

/**
 * @template T
 * @typedef {{done?: {inputs: unknown[], result: T}, doing?: {inputs: unknown[], compute: () => T}}} Slot the
 *   last result of a computation (done), and the computation for other inputs that has begun since (doing)
 */

/** Whether two lists have the same length and identical elements (by ===). @param {ArrayLike<unknown>} a
 * @param {ArrayLike<unknown>} b */
export function same(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * The result of `compute` for these inputs if it is known or there is time to compute it; otherwise the
 * previous result. A computation that has begun is completed before one with other inputs begins, so that new
 * results appear now and then while a slider moves. The very first result is computed at once, whatever time
 * it takes.
 *
 * @template T @param {Slot<T>} slot where results are kept @param {unknown[]} inputs @param {() => T} compute
 *   does its work in parts and calls `takeTime` before each. `takeTime` throws an exception when the frame's
 *   time is up; in the next frame `compute` is called again, and continues after the parts that it has
 *   completed. @param {boolean} urgent whether one part may run in every frame, even if the frame has no time
 *   left @returns {T}
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
