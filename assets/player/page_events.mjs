// @ts-check
/** Events of the page to which a player listens: history, printing, the theme, and presses of the pointer. */

/**
 * @typedef {object} Listeners
 * @property {() => void} restore the reader has gone back or forward in the browser's history
 * @property {(on: boolean) => void} print called with true before printing, and with false after it
 * @property {(theme: string) => void} theme the reader has chosen a theme
 * @property {(target: Element) => void} press the pointer is pressed on an element of the player
 * @property {() => void} release the pointer is released anywhere
 */

/**
 * Call the listeners at these events.
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
