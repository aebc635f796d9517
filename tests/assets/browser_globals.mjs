/** Stand-ins for globals of the browser that modules use when they are imported, or to which they listen. A
 * test may dispatch events at `window`; no others happen. */

Object.assign(globalThis, {
  window: new EventTarget(),
  document: new EventTarget(),
  matchMedia: () => ({ matches: false }),
  addEventListener() {},
});
