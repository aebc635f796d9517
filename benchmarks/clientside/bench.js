// @ts-check
// The clientside callback that a Dash user would write for the same animation: for each value of the slider
// it returns a figure with new positions.
(() => {
  /** @typedef {{figure: {data: object[], layout: object}, frames: object[][]}} Bench */
  const page = /** @type {{dash_clientside: import("../../assets/globals.mjs").Dash, bench?: Bench}} */ (
    /** @type {unknown} */ (window)
  );
  page.dash_clientside = Object.assign({}, page.dash_clientside, {
    bench: {
      draw(/** @type {number} */ k) {
        if (!page.bench) return page.dash_clientside.no_update;
        const { figure, frames } = page.bench;
        return {
          data: figure.data.map((trace, i) => ({ ...trace, ...frames[k][i] })),
          layout: figure.layout,
        };
      },
    },
  });
  fetch("/frames")
    .then((reply) => reply.json())
    .then((bench) => {
      page.bench = bench;
    });
})();
