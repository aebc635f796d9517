// @ts-check
/**
 * The objects that scripts share through `window`.
 *
 * @typedef {any} Plotly the drawing library and its private objects, which have no types; only modules in
 *   painter/ use private ones, and check at run time that they are as expected
 * @typedef {any} Dash the object `dash_clientside` of the library Dash, which has no types either
 * @typedef {{normscape: {players: import("./player/player.mjs").Player[], plotly?: Promise<Plotly>}, Plotly?:
 *   Plotly, dash_clientside: Dash}} Shared
 */

export const shared = /** @type {Shared} */ (/** @type {unknown} */ (globalThis));
