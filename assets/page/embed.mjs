// @ts-check
/** A figure outside of the explorer: in another page's iframe, or in a file. Its picture is there from the
 * first; the player comes when the figure is seen or touched. The host learns the height, {type:
 * "normscape:height", slug, height}, and may tell its theme, {type: "normscape:theme", theme}. */

import { shared } from "../globals.mjs";

const SLOW = 4000; // milliseconds
shared.normscape ??= { players: [] }; // the page is alive (watch.js); the players come later
const root = /** @type {HTMLElement} */ (document.querySelector("[data-slug]"));
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const hosted = parent !== window;
/** @type {Promise<void> | undefined} */ let loading;

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
    SLOW,
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
    if (root.dataset.autoplay && !calm.matches) shared.normscape.players[0].play();
  },
  { once: true },
);

const back = /** @type {HTMLAnchorElement | null} */ (root.querySelector("a.back"));
const page = back?.getAttribute("href")?.split("?")[0];
root.addEventListener("normscape:state", (event) => {
  if (back) back.href = page + /** @type {CustomEvent<string>} */ (event).detail;
});

/** The height that the figure takes where it may: in a lower frame its views are smaller. A host of our own
 * origin needs no script to follow it. */
function tell() {
  root.style.setProperty("--room", "none");
  const height = Math.ceil(document.body.getBoundingClientRect().height);
  root.style.removeProperty("--room");
  if (window.frameElement) /** @type {HTMLElement} */ (window.frameElement).style.height = `${height}px`;
  parent.postMessage({ type: "normscape:height", slug: root.dataset.slug, height }, "*");
}
const sizes = new ResizeObserver(tell);
if (hosted) for (const each of [document.body, ...root.children]) sizes.observe(each);

addEventListener("message", ({ source, data }) => {
  const asked =
    hosted &&
    source === parent &&
    document.documentElement.dataset.theme === "auto" &&
    data?.type === "normscape:theme";
  if (asked && ["auto", "light", "dark"].includes(data.theme))
    dispatchEvent(new CustomEvent("normscape:theme", { detail: data.theme }));
});
