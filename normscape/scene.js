// @ts-check The React half of the Dash component `Scene`: an element with a figure. The figure gets all
//   properties whenever Dash renders, and reports changes by the reader through `setProps`.
(() => {
  const page = /** @type {any} */ (window);
  const React = page.React;
  const base = new URL("../../_normscape/", /** @type {HTMLScriptElement} */ (document.currentScript).src);
  const NOT_LOADED_TEXT = "Scene: a part of this page did not load. Reload it to try again.";

  /** The React component: an element with a figure, which shows `props`. @param {any} props the properties
   * of the Dash component */
  function Scene(props) {
    const host = React.useRef(null);
    const figure = React.useRef(null);
    const latest = React.useRef(props);
    latest.current = props;
    React.useEffect(() => {
      let left = false;
      const tell = (/** @type {object} */ news) => latest.current.setProps?.(news);
      import(new URL("assets/guest/dash_figure.mjs", base).href).then(
        (server) => {
          if (left) return;
          figure.current = server.figure(host.current, base, tell);
          figure.current.show(latest.current);
        },
        () => {
          if (!left) host.current.textContent = NOT_LOADED_TEXT;
        },
      );
      return () => {
        left = true;
        figure.current?.close();
      };
    }, []);
    // This is a layout effect, because the figure must have these properties before its next report;
    // otherwise the report would set an old value again
    React.useLayoutEffect(() => figure.current?.show(props));
    const id = typeof props.id === "object" ? page.dash_component_api.stringifyId(props.id) : props.id;
    return React.createElement("div", { id, className: props.className, style: props.style, ref: host });
  }

  page.normscape = { ...page.normscape, Scene };
})();
