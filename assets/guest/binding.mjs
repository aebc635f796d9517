// @ts-check
/**
 * Synchronise a figure's state with the properties that the user's code sets (in Dash or a notebook), in both
 * directions. A value that came from one side is not sent back to it. Pure.
 *
 * @typedef {{choices?: Record<string, unknown>, params?: Record<string, number>, progress?: number, follow?:
 *   number, camera?: number[]}} State the properties that have values
 * @typedef {keyof State} Name
 */

const ECHO_MS = 1000; // milliseconds in which callbacks may send a reported value back

/** @type {readonly Name[]} */ export const NAMES = ["choices", "params", "progress", "follow", "camera"];

/** Whether a figure's state fulfils a request. `asked` is the value that code has set for a property, and
 * `has` is the figure's value of this property. A dict in `asked` may name only some entries; the other
 * entries may then have any value. False if `asked` is null or undefined. @param {any} asked @param {any} has
 * @returns {boolean} */
export function fulfils(asked, has) {
  if (!isSet(asked)) return false;
  if (Array.isArray(has)) return same(asked, has);
  if (typeof has !== "object") return Number(asked) === has;
  return Object.entries(asked).every(([name, value]) => String(value) === String(has[name]));
}

/** Convert a state to the names and values of a query string for the server. Entries of the dicts become
 * names of their own. Properties without a value are left out. @param {State} state @returns {Record<string,
 * string>} */
export function query({ choices, params, progress, follow, camera }) {
  const all = { ...choices, ...params, progress, follow, camera };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([, value]) => isSet(value))
      .map(([name, value]) => [name, String(value)]),
  );
}

/** The properties that a figure must adopt now: all that are in `pending` or in `news`. A property that is
 * only in `pending` gets its present value, from `props`. Properties that code has unset meanwhile are left
 * out. @param {State} pending the properties, and entries of dicts, that the figure has not adopted yet
 * @param {State} news the properties, and entries of dicts, that code has set just now @param {State} props
 * all properties, as code has set them last @returns {State} */
export function toAdopt(pending, news, props) {
  const still = Object.entries(pending).map(([key, value]) => {
    const present = props[/** @type {Name} */ (key)];
    if (!isDict(value) || !isDict(present)) return [key, present];
    return [key, Object.fromEntries(Object.entries(present).filter(([entry]) => entry in value))];
  });
  const all = Object.entries(merged(Object.fromEntries(still), news));
  return Object.fromEntries(all.filter(([key]) => isSet(props[/** @type {Name} */ (key)])));
}

/** A copy of `pending` without the properties, and entries of dicts, that have the same value in `adopted`.
 * If the values differ, code has set another value meanwhile, which stays pending. @param {State} pending the
 * properties that the figure has not adopted yet @param {Record<string, any>} adopted the properties that it
 * has adopted just now @returns {State} */
export function without(pending, adopted) {
  const rest = Object.entries(pending).map(([key, value]) => {
    const done = adopted[key];
    if (!isDict(value) || !isDict(done)) return [key, same(value, done) ? undefined : value];
    const entries = Object.entries(value).filter(
      ([entry, x]) => String(x) !== String(/** @type {Record<string, any>} */ (done)[entry]),
    );
    return [key, entries.length ? Object.fromEntries(entries) : undefined];
  });
  return Object.fromEntries(rest.filter(([, value]) => isSet(value)));
}

/** Merge two sets of properties: values of `upper` replace those of `lower`. If both values are dicts, the
 * entries of the upper one replace those of the lower one. @param {Record<string, any>} lower
 * @param {Record<string, any>} upper @returns {State} */
function merged(lower, upper) {
  const both = Object.entries(upper).map(([key, value]) => [
    key,
    isDict(value) && isDict(lower[key]) ? { ...lower[key], ...value } : value,
  ]);
  return { ...lower, ...Object.fromEntries(both) };
}

/** Synchronise a figure's state with the properties that code sets: decide which changes to pass on, in both
 * directions. `known` has the latest value of each property: the one that code has set, or that the figure
 * has reported to code since. A dict in `known` may have only some of the entries. `expected` is the state
 * that the figure will have once it has adopted all requests.
 *
 * Code may answer each report of the figure by setting the value that the figure has reported. This is an
 * echo. It can come late, several times, and after newer reports. Therefore a value that the figure has
 * reported within the last ECHO_MS is taken for an echo, and the figure does not adopt it; in dicts, each
 * entry is judged by itself. All other values are requests, which the figure adopts. There are two
 * exceptions. A value of a new figure's first report is never taken for an echo. From the moment at which the
 * figure refuses a request until it adopts one, no value at all is taken for an echo.
 *
 * After an echo of an older report, code has an older value than the figure; then the figure reports its
 * value once more. An echo of the newest report causes no report. So the exchange ends. */
export class Binding {
  constructor() {
    /** @type {State} */ this.known = {};
    /** @type {Record<string, any>} */ this.expected = {};
    this.fresh = true; // whether the figure has not yet reported its state
    this.refused = false; // whether the figure has not adopted the last request; then nothing is an echo
    // when each value was reported: by property, or property and entry, and by value
    /** @type {Map<string, number>} */ this.reports = new Map();
  }

  /** Receive all properties from code. Returns the properties that have changed, which the figure must now
   * adopt; of dicts, only the entries that have changed. Echoes are left out. @param {State} props all
   * properties as code has set them @param {State} [pending] the properties that the figure has not adopted
   * yet. If code unsets one of them and later sets it again, it counts as changed, even if the value is the
   * same @param {number} now milliseconds @returns {State} */
  asked(props, pending = {}, now = performance.now()) {
    const asked = /** @type {Record<string, any>} */ ({});
    for (const name of NAMES) {
      const value = props[name];
      const before = this.known[name];
      if (!isSet(value)) {
        if (this.refused || name in pending) delete this.known[name];
      } else if (!same(value, before)) {
        Object.assign(this.known, { [name]: value });
        if (this.fresh || this.refused) asked[name] = value;
        else {
          const news = changed(name, value, before).filter(([path, x]) => !this.#isEcho(path, x, now));
          if (news.length)
            asked[name] = isDict(value) ? Object.fromEntries(news.map(([, x, entry]) => [entry, x])) : value;
        }
      }
    }
    for (const [name, value] of Object.entries(asked))
      this.expected[name] = isDict(value) ? { ...this.expected[name], ...value } : value;
    return asked;
  }

  /** Receive the figure's state after a change. Returns the properties to report to code, or null if code
   * knows them all. If code has set only some entries of a dict, a new figure reports the whole dict. A
   * property that the figure does not have, such as the camera of a 2D figure, is left out. @param {State}
   * state @param {number} now milliseconds @returns {State | null} */
  told(state, now = performance.now()) {
    const isKnown = (/** @type {Name} */ name) => {
      const known = this.known[name];
      if (this.fresh) return same(known, state[name]);
      const current = known === undefined || fulfils(known, state[name]);
      const expected = this.expected[name];
      return current && fulfils(expected, state[name]) && !hasMore(state[name], expected);
    };
    const news = NAMES.filter((name) => state[name] !== undefined && !isKnown(name));
    const moved = this.fresh ? [] : news;
    this.fresh = false;
    const told = Object.fromEntries(news.map((name) => [name, state[name]]));
    for (const [key, at] of this.reports) if (now - at > ECHO_MS) this.reports.delete(key);
    for (const name of moved)
      for (const [path, value] of changed(name, state[name], this.known[name]))
        this.reports.set(`${path}=${value}`, now);
    Object.assign(this.known, told);
    for (const name of NAMES) this.expected[name] = state[name] ?? this.expected[name];
    return news.length ? told : null;
  }

  /** Whether a value from code is taken for an echo: whether the figure reported it in the last ECHO_MS.
   * @param {string} path the property, or property and entry: "params.eps" @param {unknown} value
   * @param {number} now milliseconds */
  #isEcho(path, value, now) {
    return now - (this.reports.get(`${path}=${value}`) ?? -Infinity) <= ECHO_MS;
  }
}

/** Whether a property has a value. @param {any} value @returns {boolean} */
export const isSet = (value) => value !== null && value !== undefined;

/** Whether a property is a dict, such as `params`. @param {unknown} value @returns {value is object} */
const isDict = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** List the changes of a property: for each entry of a dict that differs from `before`, its path (such as
 * "params.eps"), value and name. A property that is no dict counts as one changed entry, whose name is "".
 * @param {Name} name @param {any} value @param {any} before @returns {[path: string, value: unknown, entry:
 * string][]} */
const changed = (name, value, before) =>
  isDict(value)
    ? Object.entries(value)
        .filter(([entry, x]) => String(x) !== String(before?.[entry]))
        .map(([entry, x]) => [`${name}.${entry}`, x, entry])
    : [[name, value, ""]];

/** Whether a value is a dict with entries that `known` lacks. @param {unknown} value @param {any} known */
const hasMore = (value, known) =>
  isDict(value) && Object.keys(value).some((entry) => known[entry] === undefined);

/** Whether two values are equal as JSON. @param {unknown} a @param {unknown} b */
export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Limit how often the function `call` runs. `ask` requests a run. The run takes place in a later task, at
 * least `every` milliseconds after the last run; it answers all requests made until then. `stop` cancels the
 * requested run. @param {() => void} call @param {number} every milliseconds @returns {{ask: () => void,
 * stop: () => void}} */
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
      timer = undefined;
    },
  };
}
