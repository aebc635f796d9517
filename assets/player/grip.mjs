// @ts-check
/** What the reader holds with the pointer, or is typing: until it is let go, no new recipe replaces it. */

const DRAGGABLE = ".figure, .formula, input[type=range]";
const TEXT_FIELDS = "textarea, input:not([type=range], [type=checkbox])";

export class Grip {
  #held = false;
  #typing = false;
  /** @type {(() => void)[]} who waits until both hands are free */ #waiting = [];

  /** @param {HTMLElement} root of a player @param {AbortSignal} signal aborts when the player goes */
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
  }

  get #busy() {
    return this.#held || this.#typing;
  }

  /** @param {{held?: boolean, typing?: boolean}} now */
  #release({ held = this.#held, typing = this.#typing }) {
    this.#held = held;
    this.#typing = typing;
    if (this.#busy) return;
    for (const go of this.#waiting.splice(0)) setTimeout(go); // whoever hears of the same release comes first
  }

  /** Until nothing is held or typed. */
  async free() {
    while (this.#busy) await new Promise((go) => this.#waiting.push(() => go(undefined)));
  }
}
