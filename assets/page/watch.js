// Says so if a part of the page is missing: a module that was blocked, or the player if it never comes. No module itself, for it
// must not wait.
(() => {
  const SOON = 5000, AGAIN = 500; // milliseconds: until it is told, between two looks
  const words = document.createElement("p");
  Object.assign(words, { className: "unmoved", role: "alert", textContent: "A part of this page has not come, so not all of it works yet. If this stays, reload the page." });
  let blocked = false;
  const look = () => {
    if (blocked || (!window.normscape && performance.now() > SOON)) document.body?.prepend(words);
    else if (window.normscape) words.remove();
    if (window.normscape || (blocked && words.isConnected)) clearInterval(timer);
  };
  addEventListener("error", ({ target }) => { if (target.type === "module") { blocked = true; look(); } }, true);
  const timer = setInterval(look, AGAIN);
})();
