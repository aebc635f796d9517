// @ts-check
/**
 * The names of the patches to Plotly's private parts (docs/plotly.md), and the handling of their failures. A
 * failure is reported once on the console, and Plotly works without the patch. To measure how much time a
 * patch saves, turn it off in the page's address: `#without=shaders,pulse`.
 *
 * @typedef {"buffers" | "camera" | "depth" | "glyphs" | "layers" | "pulse" | "redraw" | "shaders" |
 *   "uniforms"} Name
 */

const reported = /** @type {Set<Name>} */ (new Set());

/** Whether to use a patch: false if the fragment of the page's address (`#without=…`) turns it off.
 * @param {Name} name */
export const wanted = (name) =>
  !new URLSearchParams(globalThis.location?.hash.slice(1)).get("without")?.split(",").includes(name);

/** Report on the console that Plotly is not as a patch expects; only the first time for each patch.
 * @param {Name} name @param {unknown} reason the error, or a description of what is different */
export function report(name, reason) {
  if (reported.has(name)) return;
  reported.add(name);
  console.warn(
    `Normscape: this plotly.js is not as the patch "${name}" expects, so Plotly works without it.`,
    reason,
  );
}

/** Run the function `act`, a part of a patch, and return whether it succeeded. If `act` throws, report the
 * error. @param {Name} name @param {() => void} act */
export function guarded(name, act) {
  try {
    act();
    return true;
  } catch (reason) {
    report(name, reason);
    return false;
  }
}
