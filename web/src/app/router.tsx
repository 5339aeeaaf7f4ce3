/** The address bar is the state: path and query are read from it and written to it, nowhere else. */
import { useCallback, useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent, type ReactNode } from "react";

const listeners = new Set<() => void>();
const notify = (): void => listeners.forEach((l) => l());
if (typeof window !== "undefined") window.addEventListener("popstate", notify);

function subscribe(l: () => void): () => void {
  listeners.add(l);
  return () => listeners.delete(l);
}

const href = (): string => window.location.pathname + window.location.search;

export function useHref(): string {
  return useSyncExternalStore(subscribe, href);
}

export function navigate(to: string, replace = false): void {
  if (to === href()) return;
  if (replace) window.history.replaceState(null, "", to);
  else window.history.pushState(null, "", to);
  notify();
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => window.location.pathname);
}

/** Query values that stay when going to another page. */
const kKept = ["range", "tz", "cluster"];

/** `path` with the kept part of the present query and `extra`; an empty value removes a key. */
export function hrefTo(path: string, extra: Record<string, string> = {}): string {
  const now = new URLSearchParams(window.location.search);
  const next = new URLSearchParams();
  for (const k of kKept) {
    const v = now.get(k);
    if (v !== null) next.set(k, v);
  }
  for (const [k, v] of Object.entries(extra)) {
    if (v === "") next.delete(k);
    else next.set(k, v);
  }
  const q = next.toString();
  return q === "" ? path : `${path}?${q}`;
}

/** A node is named by its cluster and itself. */
export function hrefToNode(id: string, cluster = ""): string {
  return hrefTo(`/nodes/${encodeURIComponent(id)}`, { cluster: cluster === "default" ? "" : cluster });
}

/** Writes query values of the present page; an empty value removes the key. */
export function setQuery(values: Record<string, string>, replace = true): void {
  const q = new URLSearchParams(window.location.search);
  for (const [k, v] of Object.entries(values)) {
    if (v === "") q.delete(k);
    else q.set(k, v);
  }
  const text = q.toString();
  navigate(window.location.pathname + (text === "" ? "" : `?${text}`), replace);
}

/** One query value and its setter. */
export function useQueryValue(name: string, fallback = ""): [string, (v: string, replace?: boolean) => void] {
  const search = useSyncExternalStore(subscribe, () => window.location.search);
  const value = new URLSearchParams(search).get(name) ?? fallback;
  const set = useCallback((v: string, replace = true) => setQuery({ [name]: v === fallback ? "" : v }, replace), [name, fallback]);
  return [value, set];
}

interface LinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href"> {
  to: string;
  children: ReactNode;
}

/** A real link that navigates without loading the page anew. */
export function Link({ to, onClick, children, ...rest }: LinkProps): JSX.Element {
  const click = (e: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(e);
    if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    navigate(to);
    window.scrollTo(0, 0);
  };
  return (
    <a href={to} onClick={click} {...rest}>
      {children}
    </a>
  );
}
