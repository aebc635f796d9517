// @ts-check The React half of the Dash component: an element whose figure gets the properties, and reports
//   the reader's changes.
(() => {
  const page = /** @type {any} */ (window);
  const React = page.React;
  const base = new URL("../../_normscape/", /** @type {HTMLScriptElement} */ (document.currentScript).src);
  const NOT_LOADED_TEXT = "Scene: a part of this page has not come. Reload it to try again.";

  /** @param {any} props */
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
    // before the next news, so that an old value does not come back
    React.useLayoutEffect(() => figure.current?.show(props));
    const id = typeof props.id === "object" ? page.dash_component_api.stringifyId(props.id) : props.id;
    return React.createElement("div", { id, className: props.className, style: props.style, ref: host });
  }

  page.normscape = { ...page.normscape, Scene };
})();
