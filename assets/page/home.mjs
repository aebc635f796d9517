// @ts-check
/** The script of the home page. The page's figure becomes interactive once the page has been painted, and
 * plays in a loop while it is visible, unless the reader has stopped it. The picture of a card is animated
 * while the pointer is over the card or the card has the focus. For readers who save data or prefer reduced
 * motion, the figure and the cards remain still pictures. Hovering over a symbol of the formula shows what
 * the symbol means. */

import { shared } from "../globals.mjs";
import { gloss } from "./gloss.mjs";
import { prefersReducedMotion, painted, prefersReducedData } from "../browser.mjs";

const still = () => prefersReducedMotion() || prefersReducedData();

/** Make the figure of the home page interactive, and play it in a loop while it is visible. Does nothing for
 * readers who save data or prefer reduced motion. @param {HTMLElement} root the figure's element */
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
      let playing = true; // whether the figure was playing when it left the window
      player.loop = true;
      player.play();
      new IntersectionObserver(
        ([entry]) => {
          if (!entry.isIntersecting) playing = player.playing;
          if (!playing) return; // the reader has stopped it
          if (entry.isIntersecting) player.play();
          else player.pause();
        },
        { threshold: 0.3 },
      ).observe(root);
    },
    { once: true },
  );
}

/** Show the animated picture of a card if `on` is true and the reader does not prefer still pictures;
 * otherwise show the still one. @param {HTMLElement} card @param {boolean} on */
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
