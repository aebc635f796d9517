// @ts-check
/**
 * The patches to Plotly's private parts, by name (docs/plotly.md). A failing patch is reported once, and
 * drawing goes on by the public path. A page's address can turn patches off, to measure what each gains:
 * `#without=uniforms,pulse`.
 *
 * @typedef {"buffers" | "camera" | "depth" | "layers" | "pulse" | "redraw" | "uniforms"} Name
 */

const off = new URLSearchParams(globalThis.location?.hash.slice(1)).get("without")?.split(",") ?? [];
const reported = /** @type {Set<Name>} */ (new Set());

/** Whether a patch is to be used. @param {Name} name */
export const wanted = (name) => !off.includes(name);

/** Report that Plotly is not as a patch expects, once. @param {Name} name @param {unknown} reason */
export function report(name, reason) {
  if (reported.has(name)) return;
  reported.add(name);
  console.warn(
    `Normscape: this plotly.js is not as the patch "${name}" expects, so Plotly works without it.`,
    reason,
  );
}

/** Apply a patch; report what it throws. @template T @param {Name} name @param {() => T} act
 * @returns {T | undefined} */
export function guarded(name, act) {
  try {
    return act();
  } catch (reason) {
    report(name, reason);
  }
}
