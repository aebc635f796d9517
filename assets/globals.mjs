// @ts-check
/**
 * What scripts share through the window.
 *
 * @typedef {any} Plotly the drawing library, and what it hides behind a figure: it comes without types, and
 *   the painter, which alone uses what is private to it, finds out as it runs whether that is as expected
 * @typedef {any} Dash its callbacks and properties, which come without types too
 * @typedef {{normscape: {players: import("./player/player.mjs").Player[], plotly?: Promise<Plotly>}, Plotly?:
 *   Plotly, dash_clientside: Dash}} Shared
 */

export const shared = /** @type {Shared} */ (/** @type {unknown} */ (globalThis));
