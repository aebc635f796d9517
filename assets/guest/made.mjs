// @ts-check
/**
 * The recipes of a widget in a notebook: the one that it has, and those that its kernel makes on request.
 * Pure.
 *
 * @typedef {import("../player/source.mjs").Answer} Answer
 * @typedef {{key: string, recipe: Answer["recipe"]}} Made a recipe; its key is the query of the choices that
 *   are not defaults
 * @typedef {{get: (name: string) => any, set: (name: string, value: unknown) => void, save_changes: () =>
 *   void, send: (content: object) => void, on: (event: string, hear: (...news: any[]) => void) => void, off:
 *   (event: string, hear: (...news: any[]) => void) => void}} Model of anywidget
 */

const KERNEL_TIMEOUT_MS = 120_000; // milliseconds; a busy kernel answers after its cells have run
const NO_ANSWER_TEXT = "the kernel does not answer";

/** The recipe for a query: the widget's, or one that its kernel makes. It may arrive while another is being
 * unpacked. @param {Model} model @param {(packed: DataView) => Promise<any>} unpack @param {string} query
 * @param {AbortSignal} signal @returns {Promise<Omit<Answer, "choices">>} */
export function recipe(model, unpack, query, signal) {
  return new Promise((go) => {
    const done = (/** @type {Omit<Answer, "choices">} */ answer) => {
      model.off("change:_made", look);
      model.off("msg:custom", hear);
      go(answer);
    };
    const look = async () => {
      const { key, recipe } = /** @type {Made} */ (await unpack(model.get("_made")));
      if (key === query) done({ recipe });
      return key === query;
    };
    const hear = (/** @type {{refused?: string, key?: string}} */ { refused, key }) => {
      if (refused && key === query) done({ refused });
    };
    model.on("change:_made", look);
    model.on("msg:custom", hear);
    AbortSignal.any([signal, AbortSignal.timeout(KERNEL_TIMEOUT_MS)]).addEventListener(
      "abort",
      () => done({ refused: NO_ANSWER_TEXT }),
      { once: true },
    );
    look().then((there) => {
      if (!there) model.send({ make: query });
    });
  });
}
