// @ts-check
/** Events on the page that concern a player: history, printing, the theme, and presses of the pointer. */

/**
 * @typedef {object} Listeners
 * @property {() => void} restore the reader goes back or forth in the history
 * @property {(on: boolean) => void} print before printing, and after it
 * @property {(theme: string) => void} theme the reader chooses one
 * @property {(target: Element) => void} press
 * @property {() => void} release
 */

/**
 * Call the listeners at events of the page.
 * @param {HTMLElement} root of a player @param {Listeners} listeners @param {AbortSignal} signal ends it
 */
export function listen(root, { restore, print, theme, press, release }, signal) {
  addEventListener("popstate", restore, { signal });
  addEventListener("beforeprint", () => print(true), { signal });
  addEventListener("afterprint", () => print(false), { signal });
  addEventListener("pointerup", release, { signal });
  addEventListener("pointercancel", release, { signal });
  addEventListener("normscape:theme", (event) => theme(/** @type {CustomEvent<string>} */ (event).detail), {
    signal,
  });
  root.addEventListener("pointerdown", ({ target }) => press(/** @type {Element} */ (target)), {
    signal,
    capture: true,
  });
}
