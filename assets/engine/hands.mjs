// @ts-check
/**
 * Whether clicks on a mark have an effect. The mark's `hand` says what a click or drag on it does.
 */

/** @import { Hand } from "./recipe.d.ts" */

/** Whether a click on a mark follows (selects) the clicked point. @param {{hand: Hand | null}} mark */
export const follows = ({ hand }) => ["follow", "carry", "relocate", "open"].includes(hand?.kind ?? "");

/** Whether a click on a mark has any effect. @param {{hand: Hand | null}} mark */
export const clickable = (mark) => follows(mark) || ["choose", "replay"].includes(mark.hand?.kind ?? "");
