/** Keyboard shortcuts of the whole product; never while typing. */
import { useEffect } from "react";

export interface Shortcuts {
  go: (page: "dashboard" | "nodes" | "tasks" | "carbon" | "teams" | "reports" | "settings") => void;
  search: () => void;
  refresh: () => void;
  live: () => void;
  table: () => void;
  close: () => void;
  help: () => void;
}

const kGo: Record<string, "dashboard" | "nodes" | "tasks" | "carbon" | "teams" | "reports" | "settings"> = { d: "dashboard", n: "nodes", t: "tasks", c: "carbon", e: "teams", r: "reports", s: "settings" };

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName));
}

/** Moves the focus between rows marked data-row. */
function moveRow(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  if (rows.length === 0) return;
  const now = rows.findIndex((r) => r.contains(document.activeElement));
  const next = rows[now < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, now + step))];
  next?.querySelector<HTMLElement>("a, button")?.focus();
}

export function useShortcuts(s: Shortcuts): void {
  useEffect(() => {
    let going = 0;
    const down = (e: KeyboardEvent): void => {
      if (e.key === "Escape" && !e.defaultPrevented) {
        if (typing(e.target)) (e.target as HTMLElement).blur();
        s.close();
        return;
      }
      if ((e.metaKey || e.ctrlKey) && e.key.toLowerCase() === "k") {
        e.preventDefault();
        s.search();
        return;
      }
      if (e.metaKey || e.ctrlKey || e.altKey || typing(e.target)) return;
      const page = Date.now() - going < 1200 ? kGo[e.key] : undefined;
      going = 0;
      if (page) s.go(page);
      else if (e.key === "g") going = Date.now();
      else if (e.key === "/") s.search();
      else if (e.key === "r") s.refresh();
      else if (e.key === "l") s.live();
      else if (e.key === "t") s.table();
      else if (e.key === "?") s.help();
      else if (e.key === "j") moveRow(1);
      else if (e.key === "k") moveRow(-1);
      else return;
      e.preventDefault();
    };
    document.addEventListener("keydown", down);
    return () => document.removeEventListener("keydown", down);
  }, [s]);
}
