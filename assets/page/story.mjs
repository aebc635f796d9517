// @ts-check
/** The script of the story page, a text with figures that follow the reader. Figures near the middle of the
 * window become interactive (live), and show the state that belongs to the paragraph being read. The others
 * are static pictures. Browsers allow only few WebGL contexts, so live figures, nearest first, together use
 * at most MAX_CONTEXTS contexts. */

import { shared } from "../globals.mjs";
import { painted, prefersReducedData } from "../browser.mjs";

// MAX_CONTEXTS is the largest number of WebGL contexts that all live figures together may use. MAX_DISTANCE
// is the largest distance from the middle of the window at which the part of a live figure may be, in window
// heights. READING_LINE is the distance of the reading line from the top of the window, also in window
// heights: the paragraph being read is the last one that begins above this line.
const MAX_CONTEXTS = 4;
const MAX_DISTANCE = 1.2;
const READING_LINE = 0.55;
const SCROLL_REST_MS = 150; // milliseconds without scrolling, after which other figures become live

const figures = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-figure]")]);
const pictures = new Map(figures.map((figure) => [figure, figure.querySelector(".stage")?.innerHTML ?? ""]));
/** @type {WeakMap<HTMLElement, string>} the state that each figure was last asked to show */
const lastStates = new WeakMap();

/** The distance of an element from the middle of the window, in window heights; 0 if the element covers the
 * middle. @param {Element} element */
function distance(element) {
  const { top, bottom } = element.getBoundingClientRect();
  const middle = innerHeight / 2;
  return Math.max(0, top - middle, middle - bottom) / innerHeight;
}

/** Choose the figures that may be live, those nearest to the middle of the window first. What counts is the
 * distance of the figure's part of the story. A figure is left out if this distance is MAX_DISTANCE or more,
 * or if the chosen figures would then need more than MAX_CONTEXTS contexts. Returns the set of chosen
 * figures. */
function chosen() {
  const parts = figures.map((figure) => ({ figure, far: distance(figure.closest(".part") ?? figure) }));
  let room = MAX_CONTEXTS;
  return new Set(
    parts
      .filter(({ far }) => far < MAX_DISTANCE)
      .sort((a, b) => a.far - b.far)
      .filter(({ figure }) => {
        const needs = Number(figure.dataset.contexts);
        const fits = needs <= room;
        if (fits) room -= needs;
        return fits;
      })
      .map(({ figure }) => figure),
  );
}

/** Make the figures near the middle of the window live, and turn all others into static pictures. */
async function choose() {
  const now = chosen();
  for (const figure of figures) {
    if (now.has(figure) || !figure.dataset.slug) continue;
    delete figure.dataset.slug;
    await 0; // let attend.mjs close the figure's player
    const stage = figure.querySelector(".stage");
    if (stage) stage.innerHTML = pictures.get(figure) ?? "";
  }
  for (const figure of now) {
    if (figure.dataset.slug) continue;
    lastStates.delete(figure);
    figure.dataset.slug = figure.dataset.figure;
  }
}

/** Make each live figure show the state of the paragraph being read: of the paragraphs beside the figure,
 * the last one with its top above the reading line or, if there is none, the first one. */
function follow() {
  for (const player of shared.normscape?.players ?? []) {
    const blocks = /** @type {HTMLElement[]} */ ([
      ...(player.root.closest(".part")?.querySelectorAll(".passage") ?? []),
    ]);
    const read =
      blocks.filter((block) => block.getBoundingClientRect().top < READING_LINE * innerHeight).at(-1) ??
      blocks[0];
    for (const block of blocks) block.classList.toggle("read", block === read);
    const state = read?.dataset.state ?? "";
    if (!player.ready || lastStates.get(player.root) === state) continue;
    lastStates.set(player.root, state);
    player.go(Object.fromEntries(new URLSearchParams(state)));
  }
}

/** Make figures follow the reader, once the page has been painted. For readers who save data, figures remain
 * static pictures. */
async function live() {
  await painted();
  if (prefersReducedData()) return;
  await choose();
  await import("./attend.mjs");
  let waiting = 0;
  const scrolled = () => {
    follow();
    clearTimeout(waiting);
    waiting = window.setTimeout(() => choose().then(follow), SCROLL_REST_MS);
  };
  for (const event of ["scroll", "resize"]) addEventListener(event, scrolled, { passive: true });
  document.addEventListener("normscape:ready", follow, { capture: true });
  follow();
}

live();
