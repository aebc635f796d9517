// @ts-check
/** The reader's visited scenes, kept only in this browser; and loading of the search when it is opened. */

const VISITED_KEY = "visited"; // slugs, joined by commas

/** The stored list; storage may be unavailable in private windows and sandboxes. */
const kept = () => {
  try {
    return localStorage.getItem(VISITED_KEY) ?? "";
  } catch {
    return "";
  }
};
/** @returns {Set<string>} */
const visited = () => new Set(kept().split(",").filter(Boolean));
/** Store a text in this browser, if it allows that. @param {string} text */
const keep = (text) => {
  try {
    localStorage.setItem(VISITED_KEY, text);
  } catch {
    /* nothing is stored */
  }
};

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
  if (!visited().has(here)) scene.dataset.first = ""; // its figure plays once by itself (opening.mjs)
  keep([...visited().add(here)].join(","));
}
show();
addEventListener("pageshow", show); // also after going back to a page in the browser's cache
document.querySelector(".forget button")?.addEventListener("click", () => {
  keep("");
  show();
});

for (const button of /** @type {NodeListOf<HTMLElement>} */ (
  document.querySelectorAll("button[data-index]")
)) {
  button.addEventListener("click", async () =>
    (await import("./search.mjs")).search(button.dataset.index ?? ""),
  );
}
