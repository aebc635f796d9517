// @ts-check
/** Questions in the tour: the reader guesses the answer before the tour shows it. */

import { h } from "../dom.mjs";

/** Create the element with the question of a stop of the tour and a button for each answer.
 * @param {{question: string, answers: string[], right: number}} stop right: the index of the right answer
 * @param {(answer: number) => void} guess called with the index of the answer that the reader gives */
export function question({ question, answers }, guess) {
  const buttons = answers.map((html, i) =>
    h("li", {}, h("button", { type: "button", onclick: () => guess(i) }, h("span", { innerHTML: html }))),
  );
  return h("div", { className: "question" }, h("p", { innerHTML: question }), h("ol", {}, ...buttons));
}

/** Create the element that shows the question of a stop of the tour and its right answer. It also says
 * whether the reader's answer was right; `answer` is the index of the reader's answer, null if there is none.
 * @param {{question: string, answers: string[], right: number}} stop @param {number | null} answer */
export function verdict({ question, answers, right }, answer) {
  const word = answer === null ? "The answer" : answer === right ? "Right" : "No. The answer is";
  return h(
    "div",
    { className: "verdict" },
    h("p", { innerHTML: question }),
    h("p", { innerHTML: `<strong>${word}:</strong> ${answers[right]}.` }),
  );
}
