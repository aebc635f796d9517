// @ts-check
/**
 * Synchronise a figure's state with properties that code sets (Dash, notebooks), without echoes: what came
 * from one side is not sent back to it. Pure.
 *
 * @typedef {{choices?: Record<string, unknown>, params?: Record<string, number>, progress?: number, follow?:
 *   number, camera?: number[]}} State
 * @typedef {keyof State} Name
 */

/** @type {readonly Name[]} */ export const NAMES = ["choices", "params", "progress", "follow", "camera"];

/** Whether the figure's state fulfils a property; a dict only requires the names that it has.
 * @param {any} asked @param {any} has @returns {boolean} */
export function fulfils(asked, has) {
  if (asked === null || asked === undefined) return false;
  if (Array.isArray(has)) return same(asked, has);
  if (typeof has !== "object") return Number(asked) === has;
  return Object.entries(asked).every(([name, value]) => String(value) === String(has[name]));
}

/** The state as a query for the server, texts by name. @param {State} state @returns {Record<string, string>}
 */
export function query({ choices, params, progress, follow, camera }) {
  const all = { ...choices, ...params, progress, follow, camera };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );
}

/** The properties that both sides agree on: as they were last received or reported (`known`, of which a dict
 * may name only a part), and the state that the figure then has (`expected`). */
export class Binding {
  constructor() {
    /** @type {State} */ this.known = {};
    /** @type {Record<string, any>} */ this.expected = {};
    this.fresh = true; // whether the figure has not reported yet
  }

  /** Receive new properties; returns the part of the figure's state that must change. @param {State} props
   * @returns {State}
   */
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

  /** Receive the figure's new state; returns the properties to report, or null. A new figure reports all,
   * since properties may name only a part; values that it lacks, such as a camera, are left out.
   * @param {State} state @returns {State | null} */
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

/** Throttle: `call` runs at once, but at most once in `every` milliseconds; the last request is never
 * dropped. @param {() => void} call @param {number} every milliseconds
 * @returns {{ask: () => void, stop: () => void}} */
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
