// @ts-check
/** The commands that a page carries out for its players. */

import { help } from "./keys.mjs";
import { goOn, present } from "./present.mjs";
import { share } from "./share.mjs";

/** @type {import("../player/player.mjs").Commands} */
export const commands = { goOn, help, present, share };
