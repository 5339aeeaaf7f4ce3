/** Live updates: one event stream for the whole page; numbers are patched into the cached answers. */
import { useQueryClient, type InfiniteData } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useState, type ReactNode } from "react";
import { usePrefs } from "../app/prefs";
import { apiPath } from "./client";
import type { DashboardStats, NodeList, Tick } from "./types";

export interface Live {
  state: "connecting" | "live" | "paused" | "lost";
  /** Time of the last tick's data; null before the first. */
  lastAt: string | null;
  /** No tick for three periods: numbers on screen are greyed. */
  stale: boolean;
  /** Latest power by "cluster/node". */
  power: ReadonlyMap<string, number | null>;
}

const kPeriodMs = 5_000;
const kNothing: Live = { state: "connecting", lastAt: null, stale: false, power: new Map() };
const Context = createContext<Live>(kNothing);
export const useLive = (): Live => useContext(Context);

export function LiveProvider({ children }: { children: ReactNode }): JSX.Element {
  const { live } = usePrefs();
  const client = useQueryClient();
  const [value, setValue] = useState<Live>(kNothing);

  useEffect(() => {
    if (!live) {
      setValue((v) => ({ ...v, state: "paused", stale: false }));
      return undefined;
    }
    let source: EventSource | null = null;
    let lastTick = Date.now();
    const open = (): void => {
      source = new EventSource(apiPath("/stream"));
      source.addEventListener("tick", (event) => {
        let tick: Tick;
        try {
          tick = JSON.parse((event as MessageEvent<string>).data) as Tick;
        } catch {
          return; // A torn event: the next one comes in five seconds.
        }
        lastTick = Date.now();
        const nodes = tick.nodes ?? [];
        const power = new Map(nodes.map((n) => [`${n.cluster}/${n.node_id}`, n.power_watts]));
        setValue({ state: "live", lastAt: tick.at, stale: false, power });
        client.setQueriesData<DashboardStats>({ queryKey: ["dashboard"] }, (old) =>
          old ? { ...old, power_now: { ...old.power_now, power_watts: tick.power_watts, devices_known: tick.devices_known, devices_total: tick.devices_total, at: tick.at } } : old);
        const byId = new Map(nodes.map((n) => [`${n.cluster}/${n.node_id}`, n]));
        client.setQueriesData<InfiniteData<NodeList>>({ queryKey: ["nodes"] }, (old) =>
          old ? { ...old, pages: old.pages.map((p) => ({ ...p, nodes: p.nodes.map((n) => {
            const hit = byId.get(`${n.cluster}/${n.node_id}`);
            return hit ? { ...n, power_watts: hit.power_watts, last_sample_at: hit.last_sample_at ?? n.last_sample_at } : n;
          }) })) } : old);
      });
      source.addEventListener("alert", () => void client.invalidateQueries({ queryKey: ["dashboard"] }));
    };
    const close = (): void => {
      source?.close();
      source = null;
    };
    const visibility = (): void => {
      if (document.hidden) close();
      else if (!source) {
        lastTick = Date.now();
        open();
      }
    };
    open();
    document.addEventListener("visibilitychange", visibility);
    const watch = setInterval(() => {
      if (document.hidden) return;
      const late = Date.now() - lastTick > 3 * kPeriodMs;
      if (late) setValue((v) => (v.state === "lost" ? v : { ...v, state: "lost", stale: true }));
      // A closed stream does not come back by itself after an HTTP error.
      if (source?.readyState === EventSource.CLOSED) {
        close();
        open();
      }
    }, kPeriodMs);
    return () => {
      close();
      clearInterval(watch);
      document.removeEventListener("visibilitychange", visibility);
    };
  }, [live, client]);

  return <Context.Provider value={value}>{children}</Context.Provider>;
}
