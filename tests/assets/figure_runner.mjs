/** Run a figure of a Dash application (assets/guest/figure.mjs) without a browser, with the stand-ins of
 * figure_stand_ins.mjs, and with a clock that is faster than the real one. */

import { registerHooks } from "node:module";

const STAND_INS = new URL("figure_stand_ins.mjs", import.meta.url).href;
const STOOD_IN = /^\.\.\/(dom|page\/commands|page\/keys|painter\/views|player\/player)\.mjs$/;
const SPEED = 20; // the factor by which the figure's clock is faster
const SETTLE_MS = 500; // milliseconds of the figure's clock after each command

registerHooks({
  resolve: (specifier, context, next) =>
    context.parentURL?.includes("/assets/guest/") && STOOD_IN.test(specifier)
      ? { url: STAND_INS, shortCircuit: true }
      : next(specifier, context),
});

class Observer {
  observe() {}
  disconnect() {}
}

/** Import the stand-ins, and set the globals that a figure needs. */
async function prepared() {
  const all = await import("./figure_stand_ins.mjs");
  const { document, window } = globalThis;
  const head = { append: (element) => setTimeout(() => element.onload()) };
  Object.assign(document, { adoptedStyleSheets: [], head, querySelectorAll: () => [] });
  Object.assign(window, { normscape: {} });
  Object.assign(globalThis, {
    CSSStyleSheet: class {
      replaceSync() {}
    },
    MutationObserver: Observer,
    Element: all.Element,
    matchMedia: () => ({ matches: false, addEventListener() {} }),
  });
  return all;
}

/** Make time in this process faster by the factor SPEED; returns a function that makes it normal again. */
function hurry() {
  const { setTimeout, setInterval } = globalThis;
  const now = performance.now.bind(performance);
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  globalThis.setTimeout = (call, ms = 0) => setTimeout(call, ms / SPEED);
  globalThis.setInterval = (call, ms = 0) => setInterval(call, ms / SPEED);
  performance.now = () => SPEED * now();
  AbortSignal.timeout = (ms) => timeout(ms / SPEED);
  return () => {
    Object.assign(globalThis, { setTimeout, setInterval });
    Object.assign(performance, { now });
    Object.assign(AbortSignal, { timeout });
  };
}

/**
 * The state of a figure after each command [name, arguments …]. "show" sets all properties except for the
 * slug, several times if it has several arguments; "scene" sets another slug. "server" sets how the server
 * answers all requests for recipes, or those whose query contains `only`: `status` is an HTTP status, 0 for
 * no answer, "hang" for an answer that never comes; `retryAfter` is in seconds. With `refusesHtml`, the
 * server also refuses the HTML of figures whose query contains `only`. "online" dispatches that
 * event. "reader" calls a method of the player. "press" presses the pointer on the figure. "wait" waits some
 * milliseconds. The state has the queries of the requests during the command (asked), the error message
 * (refused), and the last report to code (told).
 */
export async function figure({ recipe, usual, acts }) {
  const { Player, h } = await prepared();
  const { window } = globalThis;
  Player.usual = usual;
  let server = { status: 200 };
  let asked = [];
  globalThis.fetch = async (url, { signal }) => {
    const query = String(url).split("?")[1];
    signal.throwIfAborted();
    asked.push(query);
    const status = query.includes(server.only ?? "") ? server.status : 200;
    if (status === "hang")
      await new Promise((_, no) => signal.addEventListener("abort", () => no(signal.reason)));
    if (!status) throw new TypeError("Failed to fetch");
    const chosen = { ...usual, ...Object.fromEntries(new URLSearchParams(query)) };
    const body = { 200: { ...recipe, chosen }, 400: { error: "not allowed" } }[status];
    const headers = server.retryAfter ? { "Retry-After": server.retryAfter } : {};
    return new Response(body ? JSON.stringify(body) : "<h1>", { status, headers });
  };
  const normal = hurry();
  const { Figure } = await import("../../assets/guest/figure.mjs");
  const giver = {
    styles: () => ({ sheet: h("style", {}), there: Promise.resolve() }),
    figure: async (_, search) => {
      const isRefused = server.refusesHtml && String(search).includes(server.only);
      return isRefused ? { refused: "not allowed" } : { html: `?${search}` };
    },
    dress: () => "plotly.js",
    scheme: () => "light",
  };
  let told = null;
  const shown = new Figure(h("div", {}), giver, (news) => (told = { ...told, ...news }));
  const states = [];
  let slug = "x";
  for (const [name, ...all] of acts) {
    asked = [];
    let ms = SETTLE_MS;
    if (name === "show") for (const props of all) shown.show({ slug, ...props });
    if (name === "scene") shown.show({ slug: (slug = all[0]) });
    if (name === "server") [server] = all;
    if (name === "online") window.dispatchEvent(new Event("online"));
    if (name === "reader") shown.player[all[0]](...all.slice(1));
    if (name === "press") shown.player.root.dispatchEvent(new Event("pointerdown"));
    if (name === "wait") [ms] = all;
    await new Promise((go) => setTimeout(go, ms));
    const { player, page } = shown;
    const state = player?.recipe && {
      n: player.choices.n,
      params: player.params,
      progress: player.progress,
      closed: player.closed,
    };
    const refused = page.children.find(({ className }) => className === "refused")?.textContent ?? null;
    states.push({ ...state, words: player?.words, asked, refused, told });
  }
  shown.close();
  normal();
  return states;
}

/** The error message of a figure whose HTML the server answers with a status and a body. */
export async function figureReply({ status, body }) {
  const { Element, h } = await prepared();
  globalThis.fetch = async () => new Response(body, { status });
  const { figure: create } = await import("../../assets/guest/dash_figure.mjs");
  const frame = Object.assign(h("div", {}), { parentElement: new Element("div") });
  const shown = create(frame, new URL("http://example.org/_normscape/"), () => {});
  shown.show({ slug: "x", theme: "light" });
  await new Promise((go) => setTimeout(go, 20));
  shown.close();
  return shown.page.children.find(({ className }) => className === "refused")?.textContent;
}

/** Show one figure after the other in a new page. Returns for each figure whether it has loaded Plotly's
 * script, and the errors in the console. faults: for each figure "script" if the script does not run, "html"
 * if the request for its HTML throws an exception, otherwise "". */
export async function figuresWithFaults({ faults }) {
  const { h } = await prepared();
  const { Figure } = await import("../../assets/guest/figure.mjs?new page");
  const { document, window } = globalThis;
  const { error } = console;
  const states = [];
  for (const fault of faults) {
    const state = { loads: false, errors: [] };
    document.head.append = (script) => {
      state.loads = true;
      document.currentScript = script;
      if (fault !== "script") window.Plotly = {};
      script.onload();
    };
    console.error = (reason) => state.errors.push(reason.message);
    globalThis.fetch = async () => new Response('{"error": "not allowed"}', { status: 400 });
    const giver = {
      styles: () => ({ sheet: h("style", {}), there: Promise.resolve() }),
      figure: async () => {
        if (fault === "html") throw new Error("no HTML");
        return { html: "?" };
      },
      dress: () => "plotly.js",
      scheme: () => "light",
    };
    const shown = new Figure(h("div", {}), giver, () => {});
    shown.show({ slug: "x" });
    await new Promise((go) => setTimeout(go, 50));
    shown.close();
    states.push(state);
  }
  console.error = error;
  return states;
}
