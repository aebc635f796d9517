// @ts-check
/** Build the parts of the page that show a recipe: panels, controls, texts, numbers and tour. All
 * except the tour are rebuilt for each new recipe; but the panels are kept if they can show the views of the
 * new recipe (see `fit` in mount.mjs). */

import { description } from "./describe.mjs";
import { handles, release } from "./handles.mjs";
import { click } from "./clicks.mjs";
import { fill, open, pictured } from "./mount.mjs";
import { headline, numbers } from "./numbers.mjs";
import { opening } from "./opening.mjs";
import { pair } from "./tabs.mjs";
/** @import { Panel } from "../painter/painter.mjs" */
/** @import { Camera } from "./camera.mjs" */
/** @import { FrameLoop } from "./frame_loop.mjs" */
/** @import { Player } from "./player.mjs" */
/** @import { Answer } from "./source.mjs" */
/** @import { State } from "./state.mjs" */
/** @import { Tour } from "./tour.mjs" */

export class PageParts {
  #player;
  #state;
  #camera;
  #frames;
  /** @type {() => void} */ #showNumbers = () => {};
  /** @type {Panel[]} */ panels = [];
  /** @type {Tour | null} */ tour = null;
  /** Whether all panels show the recipe. */ ready = false;

  /** From now on, close the panels when the player is closed, and arrange the views again (`pair` in
   * tabs.mjs) when the page is scrolled or resized. @param {Player} player @param {State} state
   * @param {Camera} camera @param {FrameLoop} frames */
  constructor(player, state, camera, frames) {
    this.#player = player;
    this.#state = state;
    this.#camera = camera;
    this.#frames = frames;
    player.life.addEventListener("abort", () => this.closePanels());
    for (const type of ["scroll", "resize"])
      addEventListener(type, () => pair(player, type === "scroll"), { passive: true, signal: player.life });
  }

  /** Make the recipe in the server's answer the player's present recipe; nothing is drawn until `build`. Does
   * nothing if `answer` has no recipe. @param {Answer} answer @param {Parameters<State["take"]>[2]} link the
   * state to adopt, as in `State.take` */
  take({ choices, recipe }, link) {
    if (!recipe) return;
    this.#frames.living = this.ready = false;
    this.#camera.halt();
    this.#state.take(recipe, choices, link);
    if (link.theme) dispatchEvent(new CustomEvent("normscape:theme", { detail: link.theme }));
  }

  /** Rebuild all parts for the present recipe. Dispatches the event `normscape:living` when the first panel
   * has been drawn, and `normscape:ready` when all parts are complete. */
  async build() {
    const player = this.#player;
    const frames = this.#frames;
    const { root } = player;
    const tree = /** @type {Document | ShadowRoot} */ (root.getRootNode());
    const focused = tree.activeElement;
    release(this.panels);
    frames.shows = fill(player, this);
    frames.shows.push(() => this.#showNumbers());
    frames.shows.push(() => player.need("views").classList.toggle("computing", this.#state.unfinished));
    frames.show();
    if (focused?.id && tree.activeElement !== focused) tree.getElementById(focused.id)?.focus();
    await open(player, () => this.#state.frame(true), {
      panels: (panels) => (this.panels = panels),
      living: () => {
        frames.living = true;
        frames.schedule();
        root.dispatchEvent(new Event("normscape:living"));
      },
      picked: (mark, point) => click(player, mark, point),
      turned: (camera, panel) => {
        if (this.#camera.turned(camera, panel)) frames.rest();
      },
    });
    if (player.closed) return;
    // the element that had the focus is gone, and no other element has the focus
    if (focused && !focused.isConnected && document.activeElement === document.body)
      this.panels[0]?.gd.focus({ preventScroll: true });
    frames.shows.push(...pictured(player), ...headline(player), handles(player));
    frames.describe = description(player);
    player.part("views")?.setAttribute("aria-busy", "false");
    frames.living = this.ready = true;
    frames.schedule();
    root.dispatchEvent(new Event("normscape:ready"));
    opening(player);
  }

  /** Rebuild the part of the page for numbers. */
  count() {
    const part = this.#player.part("numbers");
    this.#showNumbers = part ? numbers(part, this.#state.recipe, this.#player) : () => {};
  }

  /** Close all panels, which frees their WebGL contexts. */
  closePanels() {
    for (const panel of this.panels) panel.close();
    this.panels = [];
  }
}
