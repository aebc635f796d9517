// Start the player in a page opened from the disk. There browsers do not load modules from files, so each
// module becomes a data: URL, and an import map gives these URLs the modules' names. Python inserts the
// modules' sources, by name, as `texts` (components/publish/plain.py).
(() => {
  const texts = "MODULES";
  const url = (text) => `data:text/javascript;charset=utf-8,${encodeURIComponent(text)}`;
  const imports = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, url(text)]));
  const map = document.createElement("script");
  Object.assign(map, { type: "importmap", textContent: JSON.stringify({ imports }) });
  document.currentScript.after(map);
  import("normscape/page/embed");
})();
