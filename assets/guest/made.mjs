// @ts-check
/**
 * The recipes of a widget in a notebook: it has one, and its kernel makes others. Pure.
 *
 * @typedef {import("../player/source.mjs").Answer} Answer
 * @typedef {{key: string, recipe: Answer["recipe"]}} Made a recipe, by the choices that are no defaults, as a
 *   query
 * @typedef {{get: (name: string) => any, set: (name: string, value: unknown) => void, save_changes: () =>
 *   void, send: (content: object) => void, on: (event: string, hear: (...news: any[]) => void) => void, off:
 *   (event: string, hear: (...news: any[]) => void) => void}} Model of anywidget
 */

const PATIENCE = 120_000; // milliseconds: a kernel answers when its cells have run
const SILENT = "the kernel does not answer";

/** The recipe that the widget has, or that its kernel makes now; it may come while what is there is still
 * being unpacked. @param {Model} model @param {(packed: DataView) => Promise<any>} unpack
 * @param {string} query @param {AbortSignal} signal @returns {Promise<Omit<Answer, "choices">>} */
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
    AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]).addEventListener(
      "abort",
      () => done({ refused: SILENT }),
      { once: true },
    );
    look().then((there) => {
      if (!there) model.send({ make: query });
    });
  });
}
