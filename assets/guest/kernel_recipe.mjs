// @ts-check
/**
 * Get recipes for a figure in a notebook: the recipe in the widget's state, or another one that the kernel
 * makes on request.
 *
 * @typedef {{key: string, recipe: Answer["recipe"]}} Made a recipe, and the query string for which it was
 *   made (key): the choices that differ from the defaults
 * @typedef {{get: (name: string) => any, set: (name: string, value: unknown) => void, save_changes: () =>
 *   void, send: (content: object) => void, on: (event: string, hear: (...news: any[]) => void) => void, off:
 *   (event: string, hear: (...news: any[]) => void) => void, widget_manager?: {get_model: (id: string) =>
 *   Promise<any>}}} Model the widget's model, as anywidget defines it
 */

/** @import { Answer } from "../player/source.mjs" */

// long, because a busy kernel answers only after the cells that it is running
const KERNEL_TIMEOUT_MS = 120_000;
const WIDGET_TIMEOUT_MS = 1000; // longest wait for the shared widget, which some front ends never find
const NO_ANSWER_TEXT = "the kernel does not answer; if it was restarted, run this figure's cell again";
const GONE_TEXT = "the kernel that made this figure is gone; run its cell again";

/** Get the recipe for a query. If the recipe in the widget's state is for this query, it is the result;
 * otherwise a recipe is requested from the kernel. The kernel's answers to other queries are ignored. The
 * promise never rejects. It resolves with an error message (`refused`) if the kernel refuses the query or is
 * gone, if `signal` aborts, or after KERNEL_TIMEOUT_MS without an answer. @param {Model} model the widget's
 * properties @param {(packed: DataView) => Promise<any>} unpack decodes compressed JSON @param {string} query
 * the choices that differ from the defaults @param {AbortSignal} signal @returns {Promise<Omit<Answer,
 * "choices">>} */
export function recipe(model, unpack, query, signal) {
  return new Promise((go) => {
    let isDone = false;
    const done = (/** @type {Omit<Answer, "choices">} */ answer) => {
      isDone = true;
      model.off("change:_made", look);
      model.off("msg:custom", hear);
      go(answer);
    };
    const look = async () => {
      const made = /** @type {Made | null} */ (await unpack(model.get("_made")).catch(() => null));
      if (made?.key === query) done({ recipe: made.recipe });
      return made?.key === query;
    };
    const hear = (/** @type {{refused?: string, key?: string}} */ { refused, key }) => {
      if (refused && key === query) done({ refused });
    };
    model.on("change:_made", look);
    model.on("msg:custom", hear);
    const end = AbortSignal.any([signal, AbortSignal.timeout(KERNEL_TIMEOUT_MS)]);
    const stop = () => done({ refused: NO_ANSWER_TEXT });
    if (end.aborted) return stop();
    end.addEventListener("abort", stop, { once: true });
    look().then(async (there) => {
      if (there) return;
      const gone = await isGone(model);
      if (isDone) return;
      if (gone) done({ refused: GONE_TEXT });
      else model.send({ make: query });
    });
  });
}

/** Whether the kernel of a widget has been restarted or stopped, as far as the page knows. anywidget hides
 * the connection (`comm`) of a figure's own widget, so the function looks at the widget that all figures of
 * the kernel share. @param {Model} model @returns {Promise<boolean>} */
async function isGone(model) {
  const late = new Promise((go) => setTimeout(go, WIDGET_TIMEOUT_MS));
  const found = async () => model.widget_manager?.get_model(model.get("_library"));
  const shared = await Promise.race([found(), late]).catch(() => null);
  return shared?.comm_live === false;
}
