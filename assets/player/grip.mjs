// @ts-check
/** Detect whether the reader is dragging or typing. Meanwhile the player shows no new recipe, because that
 * would replace the control that the reader is using. */

/** A CSS selector of the elements in which a press can start a drag. */
export const DRAGGABLE = ".figure, .formula, input[type=range]";
const TEXT_FIELDS = "textarea, input:not([type=range], [type=checkbox])";

/** Whether the reader is dragging or typing in a player, and callbacks that wait for the end of it. */
export class Grip {
  #held = false;
  #typing = false;
  /** @type {(() => void)[]} callbacks that wait for release */ #waiting = [];

  /** @param {HTMLElement} root of a player @param {AbortSignal} signal aborts when the player is closed */
  constructor(root, signal) {
    const matches = (/** @type {Event} */ { target }, /** @type {string} */ selector) =>
      target instanceof Element && Boolean(target.closest(selector));
    root.addEventListener(
      "pointerdown",
      (event) => {
        this.#held = matches(event, DRAGGABLE);
      },
      { signal, capture: true },
    );
    root.addEventListener(
      "input",
      (event) => {
        this.#typing = matches(event, TEXT_FIELDS);
      },
      { signal },
    );
    root.addEventListener(
      "keydown",
      ({ key }) => {
        if (key === "Escape") this.#release({ typing: false });
      },
      { signal },
    );
    for (const end of ["change", "focusout"])
      root.addEventListener(end, () => this.#release({ typing: false }), { signal });
    for (const end of ["pointerup", "pointercancel"])
      addEventListener(end, () => this.#release({ held: false }), { signal });
    signal.addEventListener("abort", () => this.#release({ held: false, typing: false }));
  }

  get #busy() {
    return this.#held || this.#typing;
  }

  /**
   * Note that the reader has stopped dragging or typing. If the reader now does neither, call the waiting
   * callbacks. @param {{held?: boolean, typing?: boolean}} now held: whether the reader still drags; typing:
   * whether the reader still types; by default as before
   */
  #release({ held = this.#held, typing = this.#typing }) {
    this.#held = held;
    this.#typing = typing;
    if (this.#busy) return;
    for (const go of this.#waiting.splice(0)) setTimeout(go); // after the handlers of the same event
  }

  /** Return a promise that resolves when the reader neither drags nor types, or the player is closed. */
  async free() {
    while (this.#busy) await new Promise((go) => this.#waiting.push(() => go(undefined)));
  }
}
