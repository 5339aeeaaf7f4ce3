/** What the reader chose: language, theme, time zone, live updates. Kept in the browser. */
import { createContext, useCallback, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import type { Lang, Zone } from "../format/time";
import { useQueryValue } from "./router";

export type Theme = "system" | "light" | "dark";

interface Stored { lang: Lang; theme: Theme; zone: Zone; live: boolean }
interface Prefs extends Stored {
  set: (change: Partial<Stored>) => void;
  /** Grows when colours may have changed: canvases repaint. */
  themeVersion: number;
}

const kKey = "tidewatt.prefs";

function load(): Stored {
  const browser: Lang = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
  const out: Stored = { lang: browser, theme: "system", zone: "browser", live: true };
  try {
    const got = JSON.parse(localStorage.getItem(kKey) ?? "{}") as Record<string, unknown>;
    if (got["lang"] === "en" || got["lang"] === "zh") out.lang = got["lang"];
    if (got["theme"] === "light" || got["theme"] === "dark") out.theme = got["theme"];
    if (got["zone"] === "utc") out.zone = "utc";
    if (got["live"] === false) out.live = false;
  } catch {
    // Storage is off or holds something else: the defaults do.
  }
  return out;
}

export function applyToDocument(p: Pick<Stored, "lang" | "theme">): void {
  const root = document.documentElement;
  root.lang = p.lang === "zh" ? "zh-CN" : "en";
  if (p.theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = p.theme;
}

const Context = createContext<Prefs | null>(null);

export function PrefsProvider({ children }: { children: ReactNode }): JSX.Element {
  const [stored, setStored] = useState<Stored>(() => {
    const first = load();
    applyToDocument(first);
    return first;
  });
  const [themeVersion, setThemeVersion] = useState(0);
  const [tz, setTz] = useQueryValue("tz");

  useEffect(() => {
    const media = window.matchMedia("(prefers-color-scheme: dark)");
    const bump = (): void => setThemeVersion((v) => v + 1);
    media.addEventListener("change", bump);
    return () => media.removeEventListener("change", bump);
  }, []);

  const set = useCallback((change: Partial<Stored>) => {
    setStored((old) => {
      const next = { ...old, ...change };
      applyToDocument(next);
      try {
        localStorage.setItem(kKey, JSON.stringify(next));
      } catch {
        // Private browsing: the choice lasts for this page.
      }
      return next;
    });
    if (change.theme) setThemeVersion((v) => v + 1);
    if (change.zone) setTz("");
  }, [setTz]);

  const zone: Zone = tz === "utc" ? "utc" : tz === "browser" ? "browser" : stored.zone;
  const value = useMemo(() => ({ ...stored, zone, set, themeVersion }), [stored, zone, set, themeVersion]);
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

export function usePrefs(): Prefs {
  const p = useContext(Context);
  if (!p) throw new Error("usePrefs outside PrefsProvider");
  return p;
}
