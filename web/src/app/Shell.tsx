/** Frame of every page: rail, bar, banners, drawer, help. */
import { useIsFetching, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { signOut } from "../api/client";
import { useDashboard } from "../api/queries";
import { useLive } from "../api/stream";
import type { Session } from "../api/types";
import { zoneLabel } from "../format/time";
import { useWords } from "../i18n";
import { Icon } from "../ui/Icon";
import { LanguageSwitch, ThemeSwitch } from "./Controls";
import { EvidenceDrawer } from "./Drawer";
import { useShortcuts } from "./keys";
import { usePrefs } from "./prefs";
import { hrefTo, Link, navigate, setQuery, useHref, usePath, useQueryValue } from "./router";

export const kRanges = ["1h", "6h", "24h", "7d"] as const;
export type RangeName = (typeof kRanges)[number];

export function useRange(): RangeName {
  const [value] = useQueryValue("range", "24h");
  return kRanges.find((r) => r === value) ?? "24h";
}

const kPages = [
  { key: "dashboard", path: "/", icon: "dashboard", keys: "g d" },
  { key: "nodes", path: "/nodes", icon: "nodes", keys: "g n" },
  { key: "tasks", path: "/tasks", icon: "tasks", keys: "g t" },
  { key: "carbon", path: "/carbon", icon: "leaf", keys: "g c" },
  { key: "teams", path: "/teams", icon: "teams", keys: "g e" },
  { key: "reports", path: "/reports", icon: "report", keys: "g r" },
  { key: "settings", path: "/settings", icon: "settings", keys: "g s" },
] as const;

function section(path: string): string {
  const first = path.split("/")[1] ?? "";
  return first === "" ? "dashboard" : first;
}

export function Shell({ session, children }: { session: Session; children: ReactNode }): JSX.Element {
  const { t } = useWords();
  const path = usePath();
  useHref();
  const range = useRange();
  const [cluster] = useQueryValue("cluster");
  const prefs = usePrefs();
  const client = useQueryClient();
  const search = useRef<HTMLInputElement>(null);
  const [help, setHelp] = useState(false);

  const shortcuts = useMemo(() => ({
    go: (page: string) => navigate(hrefTo(page === "dashboard" ? "/" : `/${page}`)),
    search: () => { search.current?.focus(); search.current?.select(); },
    refresh: () => void client.invalidateQueries(),
    live: () => prefs.set({ live: !prefs.live }),
    table: () => setQuery({ view: new URLSearchParams(window.location.search).get("view") === "table" ? "" : "table" }),
    close: () => { setHelp(false); setQuery({ drawer: "" }); },
    help: () => setHelp((h) => !h),
  }), [client, prefs]);
  useShortcuts(shortcuts);

  const here = section(path);
  const titleKey = kPages.find((p) => p.key === here)?.key;
  useEffect(() => {
    const leaf = decodeURIComponent(path.split("/")[2] ?? "");
    document.title = `${leaf !== "" ? `${leaf} · ` : ""}${titleKey ? t(`nav.${titleKey}`) : ""} · Tidewatt`;
  }, [path, titleKey, t]);

  return (
    <div className="shell">
      <a className="skip" href="#main">{t("app.skip")}</a>
      <nav className="rail" aria-label={t("nav.label")}>
        <Link to={hrefTo("/")} className="brand"><Icon name="tide" size={18} /> <span>{t("app.name")}</span></Link>
        {kPages.map((p) => (
          <Link key={p.key} to={hrefTo(p.path)} className="rail-link" aria-current={here === p.key ? "page" : undefined} title={p.keys}>
            <Icon name={p.icon} /> <span>{t(`nav.${p.key}`)}</span>
          </Link>
        ))}
        <span className="grow" />
        <div className="rail-foot dim">{session.version}</div>
      </nav>
      <Bar session={session} searchRef={search} onHelp={() => setHelp(true)} />
      <main id="main" tabIndex={-1}>
        <Banners session={session} />
        {children}
      </main>
      <EvidenceDrawer range={range} cluster={cluster} />
      {help && <Help close={() => setHelp(false)} />}
    </div>
  );
}

function Bar({ session, searchRef, onHelp }: { session: Session; searchRef: React.RefObject<HTMLInputElement>; onHelp: () => void }): JSX.Element {
  const { t, zone } = useWords();
  const prefs = usePrefs();
  const range = useRange();
  const path = usePath();
  const [q, setQ] = useQueryValue("q");
  const listed = path === "/nodes" || path === "/tasks" || path === "/settings";
  const [draft, setDraft] = useState(q);
  useEffect(() => setDraft(listed ? q : ""), [q, listed]);
  const live = useLive();
  const client = useQueryClient();
  const fetching = useIsFetching();
  const stats = useDashboard(range, 30_000);
  const alerts = stats.data?.alerts_total ?? stats.data?.alerts.length ?? 0;
  const type = (v: string): void => {
    setDraft(v);
    if (listed) setQ(v);
  };
  const leave = async (): Promise<void> => {
    try {
      await signOut();
    } finally {
      client.clear();
      navigate("/login-page");
    }
  };
  return (
    <header className="bar">
      <form role="search" className="search" onSubmit={(e) => { e.preventDefault(); if (!listed) navigate(hrefTo("/nodes", { q: draft })); }}>
        <Icon name="search" size={14} />
        <input ref={searchRef} type="search" value={draft} onChange={(e) => type(e.target.value)} placeholder={t("bar.search")} aria-label={t("bar.search")} />
        <kbd>/</kbd>
      </form>
      <span className="grow" />
      <div className="segments" role="group" aria-label={t("bar.range")} data-control="range">
        {kRanges.map((r) => <button key={r} type="button" aria-pressed={range === r} onClick={() => setQuery({ range: r === "24h" ? "" : r, zoom: "" }, false)}>{t(`bar.range.${r}`)}</button>)}
      </div>
      <button type="button" className="button small zone" onClick={() => prefs.set({ zone: zone === "utc" ? "browser" : "utc" })} aria-label={t("word.labelled", { what: t("bar.zone"), text: t(`bar.zone.${zone}`) })} title={t(`bar.zone.${zone}`)} data-control="zone">{zoneLabel(Date.now(), zone)}</button>
      <button type="button" className={`live ${live.state}`} aria-pressed={prefs.live} onClick={() => prefs.set({ live: !prefs.live })} title={t(prefs.live ? "bar.live.title" : "bar.paused.title")} data-control="live">
        <span aria-hidden="true">{live.state === "paused" ? "❚❚" : live.state === "lost" ? "▲" : fetching > 0 || live.state === "connecting" ? "◌" : "●"}</span> {t(live.state === "paused" ? "bar.paused" : live.state === "lost" ? "bar.lost" : "bar.live")}
      </button>
      <Link to={hrefTo("/", { focus: "alerts" })} className={alerts > 0 ? "alerts on" : "alerts"} aria-label={t("bar.alerts", { n: alerts })} title={t("bar.alerts", { n: alerts })}><Icon name="bell" /> {alerts}</Link>
      <LanguageSwitch />
      <ThemeSwitch />
      <button type="button" className="icon-button help-button" onClick={onHelp} aria-label={t("bar.help")} title={t("bar.help")}><Icon name="help" /></button>
      <span className="user dim" title={t(`bar.role.${session.role}`, { team: session.team })}>{session.role === "tenant" ? t("bar.role.tenant", { team: session.team }) : session.name === "login link" ? t("bar.by_link") : session.name}</span>
      <button type="button" className="icon-button" onClick={() => void leave()} aria-label={t("bar.signout")} title={t("bar.signout")}><Icon name="out" /></button>
    </header>
  );
}

function Banners({ session }: { session: Session }): JSX.Element {
  const { t, time } = useWords();
  const live = useLive();
  const range = useRange();
  const stats = useDashboard(range, 30_000);
  const factor = stats.data?.energy_summary?.emission_factor;
  return (
    <>
      {session.simulated && <div className="banner sim" role="note"><span className="badge sim">{t("badge.sim")}</span> {t("banner.sim")}</div>}
      {session.replay === true && <div className="banner replay" role="note"><span className="badge replay">{t("badge.replay")}</span> {t("banner.replay")}</div>}
      {live.state === "lost" && <div className="banner bad" role="alert">▲ {t("banner.lost", { time: time(live.lastAt ?? (stats.dataUpdatedAt > 0 ? stats.dataUpdatedAt : null), true) })}</div>}
      {factor && !factor.configured && <div className="banner warn" role="note">▲ {t("banner.placeholder", { v: `${factor.value ?? ""} kg\u00a0CO₂e/kWh` })}</div>}
    </>
  );
}

function Help({ close }: { close: () => void }): JSX.Element {
  const { t } = useWords();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  const rows = [["g d", "go_dashboard"], ["g n", "go_nodes"], ["g t", "go_tasks"], ["g c", "go_carbon"], ["g e", "go_teams"], ["g r", "go_reports"], ["g s", "go_settings"], ["/", "search"], ["r", "refresh"], ["l", "live"], ["t", "table"], ["j k", "rows"], ["Enter", "open"], ["Esc", "close"], ["?", "help"]] as const;
  return (
    <div className="veil" onClick={close}>
      <div className="dialog" role="dialog" aria-modal="true" aria-label={t("help.title")} onClick={(e) => e.stopPropagation()}>
        <div className="card-head"><h2>{t("help.title")}</h2><span className="grow" /><button ref={button} type="button" className="icon-button" onClick={close} aria-label={t("ev.close")}><Icon name="close" /></button></div>
        <dl className="keys">{rows.map(([k, m]) => <div key={k}><dt>{k.split(" ").map((x) => <kbd key={x}>{x}</kbd>)}</dt><dd>{t(`help.${m}`)}</dd></div>)}</dl>
      </div>
    </div>
  );
}
