// Light or dark before the first paint: from the link, else the last choice, else the system.
(() => {
  const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)");
  const names = { auto: "◐ System", light: "☀ Light", dark: "☾ Dark" };
  const kept = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  let asked = root.dataset.theme ?? new URLSearchParams(location.search).get("theme"); // a figure by itself has its own
  if (!Object.hasOwn(names, asked)) asked = Object.hasOwn(names, kept()) ? kept() : "auto";
  const show = () => {
    const scheme = asked === "auto" ? (system.matches ? "dark" : "light") : asked;
    if (root.getAttribute("data-mantine-color-scheme") !== scheme) root.setAttribute("data-mantine-color-scheme", scheme);
    const button = document.getElementById("theme");
    if (button && button.textContent !== names[asked]) button.textContent = names[asked];
  };
  const keep = (theme) => { try { localStorage.setItem("theme", theme); } catch { /* a private window keeps nothing */ } };
  system.addEventListener("change", show);
  // From the switch, or from a link, which holds for this visit only.
  addEventListener("normscape:theme", (event) => { asked = event.detail; show(); });
  addEventListener("click", (event) => {
    if (!event.target.closest?.("#theme")) return;
    const all = Object.keys(names), theme = all[(all.indexOf(asked) + 1) % all.length];
    keep(theme);
    dispatchEvent(new CustomEvent("normscape:theme", { detail: theme }));
  });
  // Mantine sets the attribute to its own default when it starts; the button comes later than this script.
  new MutationObserver(show).observe(root, { attributes: true, attributeFilter: ["data-mantine-color-scheme"], childList: true, subtree: true });
  show();
})();
