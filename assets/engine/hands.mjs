// @ts-check
/**
 * The effect of a click on a mark.
 *
 * @typedef {import("./recipe.d.ts").Hand} Hand
 */

/** Whether a click on a mark follows the point. @param {{hand: Hand | null}} mark */
export const follows = ({ hand }) => ["follow", "carry", "relocate", "open"].includes(hand?.kind ?? "");

/** Whether a click on a mark does something. @param {{hand: Hand | null}} mark */
export const clickable = (mark) => follows(mark) || ["choose", "replay"].includes(mark.hand?.kind ?? "");
