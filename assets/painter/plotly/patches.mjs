// @ts-check
/**
 * The names of the patches to Plotly's private parts (docs/plotly.md), and what happens if one fails: it is
 * reported once on the console, and Plotly works without it. To measure what a patch gains, the page's
 * address can turn it off: `#without=uniforms,pulse`.
 *
 * @typedef {"buffers" | "camera" | "depth" | "layers" | "pulse" | "redraw" | "uniforms"} Name
 */

const reported = /** @type {Set<Name>} */ (new Set());

/** Whether a patch is to be used: the page's address does not turn it off. @param {Name} name */
export const wanted = (name) =>
  !new URLSearchParams(globalThis.location?.hash.slice(1)).get("without")?.split(",").includes(name);

/** Report on the console that Plotly is not as a patch expects; only the first time for each patch. @param
 * {Name} name @param {unknown} reason */
export function report(name, reason) {
  if (reported.has(name)) return;
  reported.add(name);
  console.warn(
    `Normscape: this plotly.js is not as the patch "${name}" expects, so Plotly works without it.`,
    reason,
  );
}

/** Run a part of a patch and return its result; if it throws, report that, and return undefined. @template T
 * @param {Name} name @param {() => T} act @returns {T | undefined} */
export function guarded(name, act) {
  try {
    return act();
  } catch (reason) {
    report(name, reason);
  }
}
