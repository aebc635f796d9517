// @ts-check
/** The story: a figure lives while it is near what is read, and shows the state of the paragraph in view. A
 * browser has few WebGL contexts: at most four are held at once, by the figures nearest to the middle of the
 * window; the others are pictures. */

import { shared } from "../globals.mjs";
import { painted, sparing } from "./reading.mjs";

// of the height of the window: how far a living figure may be; where one reads
const CONTEXTS = 4;
const NEAR = 1.2;
const LINE = 0.55;
const CALM = 150; // milliseconds without scrolling

const figures = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-figure]")]);
const pictures = new Map(figures.map((figure) => [figure, figure.querySelector(".stage")?.innerHTML ?? ""]));
/** @type {WeakMap<HTMLElement, string>} what each was told last */ const lastStates = new WeakMap();

/** How far something is from the middle of the window, in its heights. @param {Element} element */
function distance(element) {
  const { top, bottom } = element.getBoundingClientRect();
  const middle = innerHeight / 2;
  return Math.max(0, top - middle, middle - bottom) / innerHeight;
}

/** The figures that may live: the nearest, as many as there are contexts for. */
function chosen() {
  const parts = figures.map((figure) => ({ figure, far: distance(figure.closest(".part") ?? figure) }));
  let room = CONTEXTS;
  return new Set(
    parts
      .filter(({ far }) => far < NEAR)
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
    await 0; // its player goes
    const stage = figure.querySelector(".stage");
    if (stage) stage.innerHTML = pictures.get(figure) ?? "";
  }
  for (const figure of now) {
    if (figure.dataset.slug) continue;
    lastStates.delete(figure);
    figure.dataset.slug = figure.dataset.figure;
  }
}

/** Each living figure shows what the paragraph beside it says: the last that has passed the line. */
function follow() {
  for (const player of shared.normscape?.players ?? []) {
    const blocks = /** @type {HTMLElement[]} */ ([
      ...(player.root.closest(".part")?.querySelectorAll(".passage") ?? []),
    ]);
    const read =
      blocks.filter((block) => block.getBoundingClientRect().top < LINE * innerHeight).at(-1) ?? blocks[0];
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
    waiting = window.setTimeout(() => choose().then(follow), CALM);
  };
  for (const event of ["scroll", "resize"]) addEventListener(event, scrolled, { passive: true });
  document.addEventListener("normscape:ready", follow, { capture: true });
  follow();
}

live();
