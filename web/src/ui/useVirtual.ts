/** Only rows near the window are in the page: needed beyond a hundred rows. */
import { useEffect, useState, type RefObject } from "react";

export interface VirtualRows { first: number; last: number; before: number; after: number }

export function useVirtual(body: RefObject<HTMLElement>, count: number, rowHeight: number): VirtualRows {
  const all = count <= 100;
  const [range, setRange] = useState({ first: 0, last: 100 });
  useEffect(() => {
    if (all) return undefined;
    const measure = (): void => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / rowHeight) - 20);
      setRange({ first, last: first + Math.ceil(window.innerHeight / rowHeight) + 40 });
    };
    measure();
    window.addEventListener("scroll", measure, { passive: true });
    window.addEventListener("resize", measure);
    return () => {
      window.removeEventListener("scroll", measure);
      window.removeEventListener("resize", measure);
    };
  }, [all, body, rowHeight, count]);
  if (all) return { first: 0, last: count, before: 0, after: 0 };
  const last = Math.min(count, range.last);
  return { first: range.first, last, before: range.first * rowHeight, after: Math.max(0, count - last) * rowHeight };
}
