// @ts-check
/** The entry point of a figure outside the explorer: in another page's iframe, or in a standalone HTML file.
 * The figure starts as a still picture; the player is loaded when the figure becomes visible, or at the first
 * press or key. In an iframe, the figure and the surrounding page (the host) exchange messages. The figure
 * sends its height in pixels, {type: "normscape:height", slug, height}, and each new state, {type:
 * "normscape:state", slug, state}; it obeys {type: "normscape:theme", theme} and {type: "normscape:set",
 * state}. A state is an object with the names and values of a link's query; values that are the defaults are
 * missing. */

import { shared } from "../globals.mjs";
import { prefersReducedMotion } from "../browser.mjs";
/** @import { Player } from "../player/player.mjs" */

// milliseconds of loading, after which a notice says that the figure is still loading
const SLOW_LOAD_MS = 4000;
shared.normscape ??= { players: [] }; // tells watch.js that modules run; attend.mjs adds the players
const root = /** @type {HTMLElement} */ (document.querySelector("[data-slug]"));
const hosted = parent !== window;
/** @type {Promise<void> | undefined} */ let loading;
/** @type {Record<string, string> | null} the state that the host has set */ let hostState = null;
/** @type {Player | undefined} the player, once it has drawn the figure */ let player;

/** Load the player's modules, the recipe and Plotly, all at the same time, and start the player. Does nothing
 * if loading has begun already; after a failure the next call tries again. */
function load() {
  if (loading) return;
  const ahead = (/** @type {Partial<HTMLLinkElement>} */ link) =>
    document.head.append(Object.assign(document.createElement("link"), link));
  const [recipe, ...modules] = root.dataset.ahead?.split(" ") ?? [];
  const { plotly } = root.dataset;
  for (const href of modules) ahead({ rel: "modulepreload", href });
  if (recipe) ahead({ rel: "preload", as: "fetch", crossOrigin: "anonymous", href: recipe });
  if (recipe && plotly) ahead({ rel: "preload", as: "script", href: plotly });
  const notice = /** @type {HTMLElement} */ (root.querySelector(".notice"));
  const late = setTimeout(
    () => Object.assign(notice, { textContent: "This figure is still loading.", hidden: false }),
    SLOW_LOAD_MS,
  );
  loading = import("./attend.mjs")
    .then(
      () => {
        notice.hidden = true;
      },
      () => {
        loading = undefined;
        Object.assign(notice, {
          textContent: "This figure could not start. Tap it to try again.",
          hidden: false,
        });
      },
    )
    .finally(() => clearTimeout(late));
}

new IntersectionObserver((entries, observer) => {
  if (!entries.some((entry) => entry.isIntersecting)) return;
  observer.disconnect();
  load();
}).observe(root);
for (const touched of ["pointerdown", "focusin", "keydown"]) addEventListener(touched, load);

root.addEventListener(
  "normscape:ready",
  () => {
    [player] = shared.normscape.players;
    // a notice lies in front of the figure, so a click puts it away
    const notice = /** @type {HTMLElement} */ (root.querySelector(".notice"));
    notice.onclick = () => (notice.hidden = true);
    if (hostState) player.go(hostState);
    else if (root.dataset.autoplay && !prefersReducedMotion()) player.play();
  },
  { once: true },
);

const back = /** @type {HTMLAnchorElement | null} */ (root.querySelector("a.back"));
const page = back?.getAttribute("href")?.split("?")[0];
root.addEventListener("normscape:state", (event) => {
  const query = /** @type {CustomEvent<string>} */ (event).detail;
  if (back) back.href = page + query;
  const state = Object.fromEntries(new URLSearchParams(query));
  if (hosted) parent.postMessage({ type: "normscape:state", slug: root.dataset.slug, state }, "*");
});

/** Tell the host page the height in pixels that the figure needs. If the iframe is lower than this height,
 * embed.css limits the figure to the height of the iframe, so that its views shrink. While the height is
 * measured, `--room: none` switches this limit off. If the host page has our own origin, its iframe is also
 * resized directly. */
function tell() {
  root.style.setProperty("--room", "none");
  const height = Math.ceil(document.body.getBoundingClientRect().height);
  root.style.removeProperty("--room");
  if (window.frameElement) /** @type {HTMLElement} */ (window.frameElement).style.height = `${height}px`;
  parent.postMessage({ type: "normscape:height", slug: root.dataset.slug, height }, "*");
}
const sizes = new ResizeObserver(tell);
if (hosted) for (const each of [document.body, ...root.children]) sizes.observe(each);

/** Move the figure to a state that the host has sent; if the figure is not ready yet, start it, and move it
 * then. @param {object} state names and values, as in a link's query; all other values become the defaults */
function set(state) {
  hostState = Object.fromEntries(Object.entries(state).map(([name, value]) => [name, String(value)]));
  if (player) player.go(hostState);
  else load();
}

addEventListener("message", ({ source, data }) => {
  if (!hosted || source !== parent) return;
  const followsHost = document.documentElement.dataset.theme === "auto";
  if (data?.type === "normscape:theme" && followsHost && ["auto", "light", "dark"].includes(data.theme))
    dispatchEvent(new CustomEvent("normscape:theme", { detail: data.theme }));
  if (data?.type !== "normscape:set") return;
  const { state = {} } = data;
  if (state && typeof state === "object" && !Array.isArray(state)) set(state);
  else console.warn("normscape:set: the state is not an object", state);
});
