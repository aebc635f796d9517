// Report if a part of the page is missing: a module that was blocked, as browsers do for pages opened from
// the disk, or a player that does not start. Not a module itself, since it must not wait for one.
(() => {
  const LOAD_TIMEOUT_MS = 5000;
  const CHECK_INTERVAL_MS = 500; // milliseconds between two checks, until the report
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
