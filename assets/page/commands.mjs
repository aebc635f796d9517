// @ts-check
/** The commands of a page (help, share, present …), passed to each `Player`, so that modules in player/ need
 * not import those in page/. */

import { help } from "./keys.mjs";
import { goOn, present } from "./present.mjs";
import { share } from "./share.mjs";
/** @import { Commands } from "../player/player.mjs" */

/** @type {Commands} */
export const commands = { goOn, help, present, share };
