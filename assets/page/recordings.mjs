// @ts-check
/** The panel for recordings, in a scene that shows a recorded model. The reader can open a recording file,
 * open a second one to compare, save all numbers as CSV or JSON, and delete the opened recordings from the
 * server. */

import { h } from "../dom.mjs";
import { shared } from "../globals.mjs";
import { asked, fileButton, messages, upload } from "../player/upload.mjs";
/** @import { Player } from "../player/player.mjs" */

const SMALLER =
  " Record the model again without --full (in Python without full=True), and the file fits. On your own " +
  "computer, the command normscape model also opens larger recordings.";

const { line, answered } = messages();

/** The name of the first or the second recording that the scene shows; "" without this recording. @param
 * {Player} shown the scene's player @param {"own" | "other"} choice "own" for the first recording, "other"
 * for the second */
const nameOf = (shown, choice) => shown.recipe.facts?.columns[choice === "own" ? 1 : 2] ?? "";

/** A button that deletes an opened recording from the server; "" if no such recording is opened. @param
 * {Player} shown the scene's player @param {string} place the address of the recordings on the server @param
 * {"own" | "other"} choice "own" for the first recording, "other" for the second */
function deletes(shown, place, choice) {
  const { own, other } = shown.choices;
  const key = shown.choices[choice];
  if (!key) return "";
  const name = `“${nameOf(shown, choice)}”`;
  const onclick = async () => {
    if (!(await answered(asked(`${place}/${key}/delete`, { method: "POST" })))) return;
    await shown.choose({ ...(own === key && { own: "", norm: "1" }), ...(other === key && { other: "" }) });
    line.textContent = `${name} was deleted from the server.`;
  };
  const which = choice === "own" ? "opened" : "second";
  return h("button", { type: "button", onclick }, `Delete the ${which} recording ${name}`);
}

/**
 * Fill the panel with its buttons, links and message line, for the recordings that are chosen at present. For
 * a reader's own recording, also hide the page's link to the tour.
 * @param {HTMLElement} part the panel @param {Player} shown the scene's player
 */
function offer(part, shown) {
  const place = String(shown.root.dataset.run).replace(/run$/, "recording");
  const { own: ownRecording, other, recording } = shown.choices;
  line.textContent = "";
  /** A button, with its hidden file input, that opens a file as the first recording (`choice` "own") or as
   * the second ("other"). @param {string} label @param {string} choice */
  const opens = (label, choice) =>
    fileButton(label, ".safetensors", async (file) => {
      const request = upload(place, file, Number(part.dataset.maxBytes), SMALLER);
      const named = request.then((reply) => ({
        ...reply,
        words: reply.words && `${file.name}: ${reply.words}`,
      }));
      const answer = await answered(named, "Measuring the file …");
      if (answer?.choices) shown.choose(choice === "own" ? answer.choices : { [choice]: answer.choices.own });
    });
  const link = (/** @type {string} */ kind) =>
    h("a", { href: `${place}/${ownRecording || recording}.${kind}`, download: "" }, `.${kind}`);
  const tour = /** @type {HTMLElement | null} */ (shown.root.querySelector(".head a.on"));
  if (tour) tour.hidden = Boolean(ownRecording); // the tour's texts describe the shipped recordings
  part.replaceChildren(
    ...opens("Open a recording …", "own"),
    ...opens("Open a second recording …", "other"),
    ...(other
      ? [
          h(
            "button",
            { type: "button", onclick: () => shown.choose({ other: "" }) },
            "Close the second recording",
          ),
        ]
      : []),
    deletes(shown, place, "own"),
    deletes(shown, place, "other"),
    h("span", {}, "All numbers: ", link("csv"), " ", link("json")),
    line,
  );
}

/** Show the names of opened recordings in the drop-down lists: the first one in the list `recording`, the one
 * beside it in the list `beside`. Otherwise these lists have only shipped recordings. @param {Player} shown
 * the scene's player */
function named(shown) {
  for (const choice of /** @type {const} */ (["own", "other"])) {
    const list = choice === "own" ? "recording" : "beside";
    const select = /** @type {HTMLSelectElement | null} */ (shown.root.querySelector(`#choice-${list}`));
    select?.querySelector("option.opened")?.remove();
    if (!select || !shown.choices[choice]) continue;
    const name = `yours: ${nameOf(shown, choice)}`;
    select.prepend(h("option", { className: "opened", value: "opened", disabled: true }, name));
    select.value = "opened";
  }
}

/** @type {string | undefined} */ let known;
/** Fill the panel for recordings again if the scene's choices have changed, or if the panel is empty. */
function attend() {
  const shown = shared.normscape.players[0];
  const part = /** @type {HTMLElement | null} */ (shown?.root.querySelector(".recordings"));
  const now = JSON.stringify(shown?.choices);
  if (!part || (known === now && part.childElementCount)) return;
  known = now;
  offer(part, shown);
}
addEventListener("normscape:state", attend);
addEventListener("normscape:living", attend, { capture: true }); // the event does not bubble
// each new recipe fills the drop-down lists again, without the opened recordings
document.addEventListener("normscape:ready", () => named(shared.normscape.players[0]), { capture: true });
