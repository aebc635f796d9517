// Set the page's theme, light or dark: the one that the link names; otherwise the reader's last choice, which
// is stored in a cookie; otherwise the system's setting.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const names = { auto: "◐ System", light: "☀ Light", dark: "☾ Dark" };
  // the path of the site, to which the cookie belongs; "" in a standalone figure, where this script is inline
  const source = document.currentScript.src;
  const path = source && new URL(source).pathname.replace(/assets\/([^/]+\/)?page\/theme\.js$/, "");
  const cookie = () => {
    try {
      return document.cookie;
    } catch {
      return "";
    }
  }; // storage is not available in a sandbox
  let asked = "auto";
  const choose = () => {
    const kept = /(?:^|; )theme=(\w+)/.exec(path && cookie())?.[1];
    const linked = new URLSearchParams(location.search).get("theme");
    // a standalone figure has its theme in `data-theme`
    asked = [linked, root.dataset.theme, kept].find((name) => Object.hasOwn(names, name)) ?? asked;
  };
  choose();
  if (root.dataset.theme) root.dataset.theme = asked; // an embed reads there whether it follows its host
  const show = () => {
    root.dataset.scheme = asked === "auto" ? (system.matches ? "dark" : "light") : asked;
    const button = document.getElementById("theme");
    if (button) button.textContent = names[asked];
  };
  system.addEventListener("change", show);
  addEventListener("DOMContentLoaded", show);
  // the Back button may show a page that the browser has kept since before the theme was changed
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted || root.dataset.theme) return;
    choose();
    show();
  });
  // the theme switch (below) and links send this event; only the switch stores the theme
  addEventListener("normscape:theme", (event) => {
    asked = event.detail;
    show();
  });
  addEventListener("click", (event) => {
    if (!event.target.closest?.("#theme")) return;
    const all = Object.keys(names);
    const theme = all[(all.indexOf(asked) + 1) % all.length];
    dispatchEvent(new CustomEvent("normscape:theme", { detail: theme }));
    // a cookie, because the server reads the theme, too
    try {
      document.cookie = `theme=${theme}; path=${path}; max-age=31536000; samesite=lax`;
    } catch {
      /* a sandbox keeps nothing */
    }
  });
  show();
})();
