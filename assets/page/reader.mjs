// @ts-check
/** Record the visit to a scene, and mark links to visited scenes; the list of visited scenes is stored only
 * in this browser. Also load the search dialog when its button is pressed. */

import { store, stored } from "../browser.mjs";
import { h } from "../dom.mjs";

const VISITED_KEY = "visited"; // localStorage key of the visited scenes: their slugs, joined by commas

const NO_ANSWER_TEXT = "The server does not answer. Try again, or reload the page.";

/** The slugs of the scenes that the reader has visited. */
const visited = () => new Set((stored(VISITED_KEY) ?? "").split(",").filter(Boolean));

/** Mark the links to visited scenes. The button that clears the list of visited scenes is hidden while the
 * list is empty. */
function show() {
  const known = visited();
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("a[data-to]"))) {
    link.classList.toggle("visited", known.has(link.dataset.to ?? ""));
  }
  for (const forget of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".forget")))
    forget.hidden = !known.size;
}

const scene = /** @type {HTMLElement | null} */ (document.querySelector("main[data-slug]"));
const here = scene?.dataset.slug;
if (scene && here) {
  // at the first visit the scene's figure plays once by itself (opening.mjs)
  if (!visited().has(here)) scene.dataset.first = "";
  store(VISITED_KEY, [...visited().add(here)].join(","));
}
show();
// `pageshow` is also fired when the reader goes back to a page that the browser has kept
addEventListener("pageshow", show);
document.querySelector(".forget button")?.addEventListener("click", () => {
  store(VISITED_KEY, null);
  show();
});

for (const button of /** @type {NodeListOf<HTMLElement>} */ (
  document.querySelectorAll("button[data-index]")
)) {
  const failure = h("p", { className: "unmoved", role: "alert" }, NO_ANSWER_TEXT);
  button.addEventListener("click", async () => {
    failure.remove();
    const loaded = await import("./search.mjs").catch(() => null);
    if (!loaded) document.querySelector("header")?.after(failure);
    else if (!document.querySelector("dialog[open]")) loaded.search(button.dataset.index ?? "");
  });
}
