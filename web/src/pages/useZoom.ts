import { useMemo } from "react";
import type { Window } from "../api/queries";
import { setQuery, useQueryValue } from "../app/router";

/** The zoomed window of the page's charts, kept in the address so that a pasted link shows the same picture. */
export function useZoom(): [Window | null, (w: Window | null) => void] {
  const [text] = useQueryValue("zoom");
  const zoom = useMemo(() => {
    const m = /^(\d{10,15})-(\d{10,15})$/.exec(text);
    const from = Number(m?.[1]);
    const to = Number(m?.[2]);
    return m && to - from >= 1000 ? { from, to } : null;
  }, [text]);
  return [zoom, (w) => setQuery({ zoom: w && w.to - w.from >= 60_000 ? `${w.from}-${w.to}` : "" })];
}
