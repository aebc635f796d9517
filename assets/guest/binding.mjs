// @ts-check
/**
 * Synchronise a figure's state with properties that the user's code sets (in Dash or a notebook), in both
 * directions and without echoes: a value that came from one side is not sent back to it. Pure.
 *
 * @typedef {{choices?: Record<string, unknown>, params?: Record<string, number>, progress?: number, follow?:
 *   number, camera?: number[]}} State
 * @typedef {keyof State} Name
 */

/** @type {readonly Name[]} */ export const NAMES = ["choices", "params", "progress", "follow", "camera"];

/** Whether the value `has` of the figure's state is the one that the property `asked` requests. A property
 * that is a dict may name only some entries; then the other entries may have any value. False if the property
 * is not set. @param {any} asked @param {any} has @returns {boolean} */
export function fulfils(asked, has) {
  if (asked === null || asked === undefined) return false;
  if (Array.isArray(has)) return same(asked, has);
  if (typeof has !== "object") return Number(asked) === has;
  return Object.entries(asked).every(([name, value]) => String(value) === String(has[name]));
}

/** The state as names and values of a query string for the server; entries without a value are left out.
 * @param {State} state @returns {Record<string, string>} */
export function query({ choices, params, progress, follow, camera }) {
  const all = { ...choices, ...params, progress, follow, camera };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );
}

/** Decides which changes to pass on, from what both sides know: the properties as they were last received
 * from code or reported to it (`known`; a dict in it may name only some entries), and the state that the
 * figure should have as a result (`expected`). */
export class Binding {
  constructor() {
    /** @type {State} */ this.known = {};
    /** @type {Record<string, any>} */ this.expected = {};
    this.fresh = true; // whether the figure has not yet reported its state
  }

  /** Receive all properties from code; returns those that have changed, which the figure must now adopt.
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

  /** Receive the figure's state after a change; returns the properties to report to code, or null if code
   * knows them all. A new figure also reports what code asked for only in part, such as a dict with all its
   * entries. A value that the figure does not have, such as the camera of a 2D figure, is left out. @param
   * {State} state @returns {State | null} */
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

/** @param {unknown} value @returns {value is object} */
const isDict = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether two values are equal as JSON. @param {unknown} a @param {unknown} b */
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Throttle `call`. After `ask` it runs in the next task, but at least `every` milliseconds after its last
 * run; requests in between are answered by one run. `stop` cancels a run that is due.
 * @param {() => void} call @param {number} every milliseconds @returns {{ask: () => void, stop: () => void}}
 */
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
