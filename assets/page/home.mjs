// @ts-check
/** The home page: its figure comes to life once the page has been painted, and plays until a hand takes its
 * slider; a card moves under the pointer. For readers who save data, or asked for calm, both stay still
 * pictures. The symbols of the formula say what they mean. */

import { shared } from "../globals.mjs";
import { gloss } from "./gloss.mjs";
import { calmly, painted, sparing } from "./reading.mjs";

const still = () => calmly() || sparing();

/** @param {HTMLElement} root */
async function live(root) {
  await painted();
  if (still()) return;
  root.dataset.slug = root.dataset.hero;
  await import("./attend.mjs");
  root.addEventListener(
    "normscape:ready",
    () => {
      const player = shared.normscape.players.find((each) => each.root === root);
      if (!player) return;
      let meant = true; // to move, wherever it is seen
      player.loop = true;
      root.addEventListener(
        "pointerdown",
        () => {
          meant = false;
        },
        { once: true },
      );
      new IntersectionObserver(
        ([entry]) => {
          if (!meant) return;
          if (entry.isIntersecting) player.play();
          else player.pause();
        },
        { threshold: 0.3 },
      ).observe(root);
    },
    { once: true },
  );
}

/** @param {HTMLElement} card @param {boolean} on */
function move(card, on) {
  for (const picture of card.querySelectorAll("img")) {
    picture.dataset.rest ??= picture.src;
    const wanted =
      on && !still() && picture.checkVisibility() ? (picture.dataset.moving ?? "") : picture.dataset.rest;
    if (picture.getAttribute("src") !== wanted) picture.src = wanted;
  }
}

const root = /** @type {HTMLElement | null} */ (document.querySelector("[data-hero]"));
if (root) {
  live(root);
  const formula = /** @type {HTMLElement | null} */ (root.querySelector(".formula"));
  if (formula) gloss(formula, JSON.parse(root.dataset.gloss ?? "{}"));
}
for (const card of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".card"))) {
  for (const [event, on] of /** @type {[string, boolean][]} */ ([
    ["pointerenter", true],
    ["pointerleave", false],
    ["focus", true],
    ["blur", false],
  ])) {
    card.addEventListener(event, () => move(card, on));
  }
}
