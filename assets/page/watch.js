// Says so if a part of the page is missing: a module that was blocked, as browsers do with all of a page from
// the disk, or the player if it never comes. No module itself, for it must not wait.
(() => {
  const SOON = 5000;
  const AGAIN = 500; // milliseconds: until it is told, between two looks
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
    (fromDisk || performance.now() > SOON);
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
  const timer = setInterval(look, AGAIN);
})();
