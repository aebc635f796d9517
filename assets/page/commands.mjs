// @ts-check
/** The page's commands, passed to each `Player`, so that player/ does not import page/. */

import { help } from "./keys.mjs";
import { goOn, present } from "./present.mjs";
import { share } from "./share.mjs";

/** @type {import("../player/player.mjs").Commands} */
export const commands = { goOn, help, present, share };
