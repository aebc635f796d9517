// @ts-check
/** Questions of the tour: readers predict the answer before they see it. */

import { h } from "../dom.mjs";

/** The question of a stop, with a button for each answer.
 * @param {{question: string, answers: string[], right: number}} stop @param {(answer: number) => void} guess
 */
export function question({ question, answers }, guess) {
  const buttons = answers.map((html, i) =>
    h("li", {}, h("button", { type: "button", onclick: () => guess(i) }, h("span", { innerHTML: html }))),
  );
  return h("div", { className: "question" }, h("p", { innerHTML: question }), h("ol", {}, ...buttons));
}

/** The right answer, after "Right" or "No" if the reader has given one (else null).
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
