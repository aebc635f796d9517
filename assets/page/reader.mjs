// @ts-check
/** What a page knows of its reader, and nobody else does: which scenes were visited. It stays in this
 * browser. And the search, which comes when it is asked for. */

const KEY = "visited"; // slugs, joined by commas

/** What is kept; in a private window, or a sandbox, nothing may be. */
const kept = () => {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
};
/** @returns {Set<string>} */
const visited = () => new Set(kept().split(",").filter(Boolean));
/** @param {string} text */
const keep = (text) => {
  try {
    localStorage.setItem(KEY, text);
  } catch {
    /* then nothing is marked */
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
  if (!visited().has(here)) scene.dataset.first = ""; // its figure shows itself once (opening.mjs)
  keep([...visited().add(here)].join(","));
}
show();
addEventListener("pageshow", show); // back from a scene, to a page that was kept as it was
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
