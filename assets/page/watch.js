// Says so if the page stays a picture: a module that was blocked, or that never comes. No module itself, for it must not wait.
(() => {
  const SOON = 5000, AGAIN = 500; // milliseconds: until it is told, between two looks
  const words = document.createElement("p");
  Object.assign(words, { className: "unmoved", role: "alert", textContent: "A part of this page has not come, so nothing moves yet. If this stays, reload the page." });
  let blocked = false;
  const look = () => {
    if (window.normscape) words.remove();
    else if (blocked || performance.now() > SOON) document.body?.prepend(words);
    if (window.normscape && !blocked) clearInterval(timer);
  };
  addEventListener("error", ({ target }) => { blocked ||= target.type === "module"; }, true);
  const timer = setInterval(look, AGAIN);
})();
