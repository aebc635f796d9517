// The callback a Dash user would write: a figure with new positions for each value of the slider.
window.dash_clientside = Object.assign({}, window.dash_clientside, {
  bench: {
    draw(k) {
      if (!window.bench) return window.dash_clientside.no_update;
      const { figure, frames } = window.bench;
      return { data: figure.data.map((trace, i) => ({ ...trace, ...frames[k][i] })), layout: figure.layout };
    },
  },
});
fetch("/frames")
  .then((reply) => reply.json())
  .then((bench) => {
    window.bench = bench;
  });
