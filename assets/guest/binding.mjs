// @ts-check
/**
 * A state that code and people both change: the properties of a figure, and the figure itself.
 * What came from one side is not sent back to it. Pure.
 *
 * @typedef {{choices?: Record<string, unknown>, params?: Record<string, number>, progress?: number, follow?:
 *   number, camera?: number[]}} State
 * @typedef {keyof State} Name
 */

/** @type {readonly Name[]} */ export const NAMES = ["choices", "params", "progress", "follow", "camera"];

/** Whether a state is as a property asks; a dict asks for what it names. @param {any} asked @param {any} has
 * @returns {boolean} */
export function fulfils(asked, has) {
  if (asked === null || asked === undefined) return false;
  if (Array.isArray(has)) return same(asked, has);
  if (typeof has !== "object") return Number(asked) === has;
  return Object.entries(asked).every(([name, value]) => String(value) === String(has[name]));
}

/** What a server is asked with, as texts by name. @param {State} state @returns {Record<string, string>} */
export function query({ choices, params, progress, follow, camera }) {
  const all = { ...choices, ...params, progress, follow, camera };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );
}

/** What both sides know: the properties as they came or were told last. */
export class Binding {
  constructor() {
    /** @type {State} */ this.known = {};
    this.fresh = true; // whether the figure is yet to tell of itself
  }

  /** The properties have come: what they ask for. @param {State} props @returns {State} */
  asked(props) {
    const news = NAMES.filter(
      (name) => props[name] !== null && props[name] !== undefined && !same(props[name], this.known[name]),
    );
    const asked = Object.fromEntries(news.map((name) => [name, props[name]]));
    Object.assign(this.known, asked);
    return asked;
  }

  /** The figure has moved: what the properties are to be told, if anything. A new figure tells all, for its
   * properties may name but a part; what it does not have, such as a camera, it does not tell.
   * @param {State} state @returns {State | null} */
  told(state) {
    const as = this.fresh ? same : fulfils;
    const news = NAMES.filter((name) => state[name] !== undefined && !as(this.known[name], state[name]));
    this.fresh = false;
    const told = Object.fromEntries(news.map((name) => [name, state[name]]));
    Object.assign(this.known, told);
    return news.length ? told : null;
  }
}

/** @param {unknown} a @param {unknown} b */
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** A call that happens at once, but at most once in some time; the last one always does.
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
