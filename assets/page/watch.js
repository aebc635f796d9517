// Tell the reader if the page cannot work: if a module was blocked, as browsers do when a page is opened from
// the disk, or if the modules have not run after LOAD_TIMEOUT_MS. This is a plain script, because a module
// would be blocked, too.
(() => {
  const LOAD_TIMEOUT_MS = 5000;
  const CHECK_INTERVAL_MS = 500; // milliseconds between two checks; they end once the modules run
  const fromDisk = location.protocol === "file:";
  const words = document.createElement("p");
  Object.assign(words, {
    className: "unmoved",
    role: "alert",
    textContent: fromDisk
      ? "This page was opened from disk, where browsers do not load its scripts, " +
        "so its figures and controls do not work. Open it from a web server: " +
        "run “python -m http.server” in the folder of the whole site, or go to the page’s own address. " +
        "“normscape export” writes a file that works from disk."
      : "Part of this page did not load, so some of it does not work yet. If this stays, reload the page.",
  });
  let blocked = false;
  const late = () =>
    !window.normscape &&
    document.querySelector(".scene[data-slug]") &&
    (fromDisk || performance.now() > LOAD_TIMEOUT_MS);
  const look = () => {
    if (blocked || late()) document.body?.prepend(words);
    else if (window.normscape) words.remove();
    if (window.normscape || (blocked && words.isConnected)) clearInterval(timer);
  };
  addEventListener(
    "error",
    ({ target }) => {
      if (target.type === "module") {
        blocked = true;
        look();
      }
    },
    true,
  );
  const timer = setInterval(look, CHECK_INTERVAL_MS);
})();
