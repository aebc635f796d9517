// @ts-check
/**
 * Synchronise a figure's state with the properties that the user's code sets (in Dash or a notebook), in both
 * directions. A value that came from one side is never sent back to it. Pure.
 *
 * @typedef {{choices?: Record<string, unknown>, params?: Record<string, number>, progress?: number, follow?:
 *   number, camera?: number[]}} State the properties that have values
 * @typedef {keyof State} Name
 */

/** @type {readonly Name[]} */ export const NAMES = ["choices", "params", "progress", "follow", "camera"];

/** Whether `has`, a value of the figure's state, is what the property `asked` requests. If the property is a
 * dict, it may name only some entries; the other entries may then have any value. False if the property is
 * not set. @param {any} asked @param {any} has @returns {boolean} */
function fulfils(asked, has) {
  if (asked === null || asked === undefined) return false;
  if (Array.isArray(has)) return same(asked, has);
  if (typeof has !== "object") return Number(asked) === has;
  return Object.entries(asked).every(([name, value]) => String(value) === String(has[name]));
}

/** The state as names and values of a query string for the server. Properties without a value are left out.
 * @param {State} state @returns {Record<string, string>} */
export function query({ choices, params, progress, follow, camera }) {
  const all = { ...choices, ...params, progress, follow, camera };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );
}

/** Decides which changes to pass on, in both directions. `known` has the properties as they were last
 * received from code or reported to it; a dict in it may name only some entries. `expected` is the state that
 * the figure should have as a result. */
export class Binding {
  constructor() {
    /** @type {State} */ this.known = {};
    /** @type {Record<string, any>} */ this.expected = {};
    this.fresh = true; // whether the figure has not yet reported its state
  }

  /** Receive all properties from code. Returns those that have changed, which the figure must now adopt.
   * @param {State} props @returns {State} */
  asked(props) {
    const news = NAMES.filter(
      (name) => props[name] !== null && props[name] !== undefined && !same(props[name], this.known[name]),
    );
    const asked = Object.fromEntries(news.map((name) => [name, props[name]]));
    Object.assign(this.known, asked);
    for (const [name, value] of Object.entries(asked))
      this.expected[name] = isDict(value) ? { ...this.expected[name], ...value } : value;
    return asked;
  }

  /** Receive the figure's state after a change. Returns the properties to report to code, or null if code
   * knows them all. If code has set only some entries of a dict, a new figure reports the whole dict. A
   * property that the figure does not have, such as the camera of a 2D figure, is left out. @param {State}
   * state @returns {State | null} */
  told(state) {
    const isKnown = (/** @type {Name} */ name) =>
      this.fresh ? same(this.known[name], state[name]) : fulfils(this.expected[name], state[name]);
    const news = NAMES.filter((name) => state[name] !== undefined && !isKnown(name));
    this.fresh = false;
    const told = Object.fromEntries(news.map((name) => [name, state[name]]));
    Object.assign(this.known, told);
    for (const name of NAMES) this.expected[name] = state[name] ?? this.expected[name];
    return news.length ? told : null;
  }
}

/** Whether a property is a dict, such as `params`. @param {unknown} value @returns {value is object} */
const isDict = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether two values are equal as JSON. @param {unknown} a @param {unknown} b */
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Limit how often `call` runs. `ask` requests a run: it takes place in the next task, but at the earliest
 * `every` milliseconds after the last run, and answers all requests up to then. `stop` cancels a requested
 * run. @param {() => void} call @param {number} every milliseconds @returns {{ask: () => void, stop: () =>
 * void}} */
export function paced(call, every) {
  let last = -Infinity;
  let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);
  const now = () => {
    timer = undefined;
    last = performance.now();
    call();
  };
  return {
    ask() {
      timer ??= setTimeout(now, Math.max(0, last + every - performance.now()));
    },
    stop() {
      clearTimeout(timer);
    },
  };
}
