/**
 * Light or dark: as the system is set, unless the reader chose otherwise.
 *
 * A script of its own, which runs before anything is drawn.
 */

const KEY = "isotok-theme";
const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function stored(): Theme {
  try {
    const found = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === found) ?? "auto";
  } catch {
    return "auto"; // storage is switched off
  }
}

function apply(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  const button = document.getElementById("theme");
  if (button !== null) button.textContent = `Theme: ${theme}`;
}

function next(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] as Theme;
}

let theme = stored();
apply(theme);
addEventListener("DOMContentLoaded", () => {
  apply(theme);
  document.getElementById("theme")?.addEventListener("click", () => {
    theme = next(theme);
    apply(theme);
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // It holds until the page is left.
    }
  });
});
