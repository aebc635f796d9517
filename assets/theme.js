// Light or dark before the first paint: from the link, else the last choice, else the system.
(() => {
  const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
  const names = { auto: "◐ System", light: "☀ Light", dark: "☾ Dark" };
  const kept = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  let asked = new URLSearchParams(location.search).get("theme");
  if (!(asked in names)) asked = kept() in names ? kept() : "auto";
  const show = () => {
    const scheme = asked === "auto" ? (system.matches ? "dark" : "light") : asked;
    if (root.getAttribute("data-mantine-color-scheme") !== scheme) root.setAttribute("data-mantine-color-scheme", scheme);
    const button = document.getElementById("theme");
    if (button && button.textContent !== names[asked]) button.textContent = names[asked];
  };
  const take = (theme) => {
    asked = theme;
    try { localStorage.setItem("theme", theme); } catch { /* a private window keeps nothing */ }
    show();
  };
  system.addEventListener("change", show);
  addEventListener("normscape:theme", (event) => take(event.detail));
  addEventListener("click", (event) => {
    if (!event.target.closest?.("#theme")) return;
    const all = Object.keys(names);
    take(all[(all.indexOf(asked) + 1) % all.length]);
  });
  // Mantine sets the attribute to its own default when it starts; the button comes later than this script.
  new MutationObserver(show).observe(root, { attributes: true, attributeFilter: ["data-mantine-color-scheme"], childList: true, subtree: true });
  show();
})();
