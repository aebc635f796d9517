// @ts-check
/** The story page: figures become live near the reader's position, and show the state of the paragraph in
 * view. Browsers have few WebGL contexts, so at most MAX_CONTEXTS figures, those nearest to the middle of the
 * window, are live; the others are pictures. */

import { shared } from "../globals.mjs";
import { painted, sparing } from "./reading.mjs";

// in window heights: how far a live figure may be from the middle; where the reader reads
const MAX_CONTEXTS = 4;
const MAX_DISTANCE = 1.2;
const READING_LINE = 0.55;
const SCROLL_REST_MS = 150; // milliseconds without scrolling, after which figures change

const figures = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-figure]")]);
const pictures = new Map(figures.map((figure) => [figure, figure.querySelector(".stage")?.innerHTML ?? ""]));
/** @type {WeakMap<HTMLElement, string>} what each was told last */ const lastStates = new WeakMap();

/** The distance of an element from the middle of the window, in window heights. @param {Element} element */
function distance(element) {
  const { top, bottom } = element.getBoundingClientRect();
  const middle = innerHeight / 2;
  return Math.max(0, top - middle, middle - bottom) / innerHeight;
}

/** The figures that may be live: the nearest, as many as there are contexts. */
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

async function choose() {
  const now = chosen();
  for (const figure of figures) {
    if (now.has(figure) || !figure.dataset.slug) continue;
    delete figure.dataset.slug;
    await 0; // its player closes
    const stage = figure.querySelector(".stage");
    if (stage) stage.innerHTML = pictures.get(figure) ?? "";
  }
  for (const figure of now) {
    if (figure.dataset.slug) continue;
    lastStates.delete(figure);
    figure.dataset.slug = figure.dataset.figure;
  }
}

/** Make each live figure show the state of its last paragraph above the reading line. */
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

async function live() {
  await painted();
  if (sparing()) return;
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
