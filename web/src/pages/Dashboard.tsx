import { useState } from "react";
import { useDashboard, useSession } from "../api/queries";
import { useLive } from "../api/stream";
import type { DashboardStats, Energy, Session, TopRow } from "../api/types";
import { hrefTo, hrefToNode, Link, useQueryValue } from "../app/router";
import { usePrefs } from "../app/prefs";
import { useRange } from "../app/Shell";
import { count, coverage, coverageIsLow, gasName, kEnergy, kMass, known, kUnknown, kwhOf, microjoules, number, percent, pickFor, quantity, kWatts, sumMicrojoules, exactMicrojoules, kwh } from "../format/number";
import { isoText, millis } from "../format/time";
import { useWords } from "../i18n";
import { AttributionBadge, ReplayBadge, SimBadge } from "../ui/Badges";
import { EvidenceButton } from "../ui/Evidence";
import { FactorLine } from "../ui/FactorLine";
import { bars, HourBars } from "../ui/HourBars";
import { CoverageNote, MissingLine } from "../ui/Notes";
import { sorted } from "../ui/sort";
import { Sparkline } from "../ui/Sparkline";
import { ErrorBox, Guard, NoNodes, Skeleton } from "../ui/States";
import { Unknown, Value } from "../ui/Value";
import { ZonesCard } from "./ZonesCard";

export function Dashboard(): JSX.Element {
  const { t } = useWords();
  const range = useRange();
  const { live } = usePrefs();
  const stats = useDashboard(range, live ? 30_000 : false);
  const session = useSession();
  if (stats.isPending) return <div className="grid"><div className="card span12"><Skeleton lines={12} /></div></div>;
  if (stats.isError && !stats.data) return <ErrorBox error={stats.error} what={t("what.dashboard")} retry={() => void stats.refetch()} />;
  const d = stats.data;
  const simulated = session.data?.simulated ?? false;
  return (
    <>
      <h1 className="sr">{t("dash.title")}</h1>
      {stats.isError && <ErrorBox error={stats.error} what={t("what.dashboard")} retry={() => void stats.refetch()} />}
      {d.nodes.total === 0 && <NoNodes />}
      <div className="grid">
        <Guard><EnergyCard d={d} replay={session.data} /></Guard>
        <Guard><CarbonCard d={d} /></Guard>
        <Guard><PowerCard d={d} replay={session.data} simulated={simulated} limited={session.data?.role === "tenant"} /></Guard>
        <Guard><CoverageCard d={d} /></Guard>
        {d.hourly.length > 0 && <div className={`card span8 ${edge(d.energy_summary)}`}><Guard><HourBars hours={d.hourly} total={d.energy_summary} now={Date.now()} since={millis(d.energy_summary?.first_sample_at)} /></Guard></div>}
        <div className={`card ${d.hourly.length > 0 ? "span4" : "span12"}`}><Guard><Alerts d={d} /></Guard></div>
        <Guard><ZonesCard live={live} /></Guard>
        <div className={`card span12 ${edge(d.energy_summary)}`}><Guard><Top d={d} /></Guard></div>
      </div>
    </>
  );
}

const edge = (e: Energy | undefined): string => (e?.quality === "simulated" || e?.quality === "mixed" ? "sim-edge" : "");

function TotalRange({ e }: { e: Energy }): JSX.Element {
  const { t, range } = useWords();
  const [from, to] = range(e.from, e.to).split(" – ");
  return <div className="line dim" title={`${isoText(e.from)} / ${isoText(e.to)}`}>{t("total.range", { from: from ?? kUnknown, to: to ?? kUnknown })}</div>;
}

function EnergyCard({ d, replay }: { d: DashboardStats; replay: Session | undefined }): JSX.Element {
  const { t, zone } = useWords();
  const e = d.energy_summary;
  const q = quantity(e?.energy_kwh, kEnergy);
  const trend = bars(d.hourly, zone).map((b) => b.value);
  const mix = e?.method && known(e.energy_kwh) ? e.method.counter_kwh / (e.energy_kwh ?? 1) : null;
  return (
    <section className={`card kpi span3 ${edge(e)}`} aria-label={t("dash.energy")}>
      <div className="card-head"><h2>{t("dash.energy")}</h2><SimBadge quality={e?.quality} /><ReplayBadge of={replay} /></div>
      <div className="kpi-row">
        <EvidenceButton of={{ kind: "energy", scope: "cluster", id: "" }} className="big"><Value text={q.text} unit={q.unit} reason={t(e ? "unknown.no_data" : "unknown.no_accounts")} /></EvidenceButton>
        <Sparkline values={trend} max={Math.max(0, ...trend.map((v) => v ?? 0))} width={84} />
      </div>
      {e ? <>
        <div className="line">{t("word.counter")} {percent(mix)} · {t("word.integrated")} {percent(mix === null ? null : 1 - mix)}</div>
        {e.quality === "mixed" && <div className="line est-text" data-note="simulated">{t("dash.simulated_part", { q: kwh(kwhOf(e.simulated_uj)) })}</div>}
        <TotalRange e={e} />
      </> : <div className="line dim">{t("dash.no_accounts")}</div>}
    </section>
  );
}

function CarbonCard({ d }: { d: DashboardStats }): JSX.Element {
  const { t, code } = useWords();
  const e = d.energy_summary;
  const gas = e?.emission_factor?.gas;
  const q = quantity(e?.carbon_kgco2e, kMass);
  return (
    <section className={`card kpi span3 ${edge(e)}`} aria-label={t("dash.carbon")} data-card="carbon">
      <div className="card-head"><h2>{t("dash.carbon")}</h2><SimBadge quality={e?.quality} /></div>
      {e?.carbon_hidden_reason ? <div className="line">{code("reason", e.carbon_hidden_reason)}</div> : <>
        <div className="kpi-row"><EvidenceButton of={{ kind: "carbon", scope: "cluster", id: "" }} className="big"><Value text={q.text} unit={q.unit === "" ? "" : `${q.unit}\u00a0${gasName(gas)}`} reason={t(e ? "unknown.carbon" : "unknown.no_accounts")} /></EvidenceButton></div>
        {e?.emission_factor && <><FactorLine factor={e.emission_factor} /><div className="line dim">{t("factor.method")}</div></>}
        {!e && <div className="line dim">{t("dash.no_accounts")}</div>}
      </>}
    </section>
  );
}

function PowerCard({ d, simulated, limited, replay }: { d: DashboardStats; simulated: boolean; limited: boolean; replay: Session | undefined }): JSX.Element {
  const { t, time, age, code } = useWords();
  const live = useLive();
  const p = d.power_now;
  const q = quantity(p.power_watts, kWatts);
  return (
    <section className={`card kpi span3 ${simulated ? "sim-edge" : ""}`} aria-label={t("dash.power")}>
      <div className="card-head"><h2>{t("dash.power")}</h2><SimBadge quality={simulated ? d.energy_summary?.quality ?? "simulated" : null} /><ReplayBadge of={replay} /></div>
      <div className={live.stale ? "kpi-row stale" : "kpi-row"}><EvidenceButton of={{ kind: "power", scope: "cluster", id: "" }} className="big"><Value text={q.text} unit={q.unit} reason={t(limited ? "unknown.team_view" : "unknown.no_reading")} /></EvidenceButton></div>
      <div className="line">{limited ? t("dash.team_view") : `${t("dash.devices_known", { known: p.devices_known, total: p.devices_total })} · ${code("dash.boundary", p.boundary)}`}</div>
      <div className="line dim" title={isoText(p.at)}>{p.at === null ? <Unknown reason={t("unknown.no_reading")} /> : <>{time(p.at, true)} · {age(p.at)}</>}</div>
    </section>
  );
}

function CoverageCard({ d }: { d: DashboardStats }): JSX.Element {
  const { t } = useWords();
  const e = d.energy_summary;
  return (
    <section className={`card kpi span3 ${edge(e)}`} aria-label={t("dash.coverage")}>
      <div className="card-head"><h2>{t("dash.coverage")}</h2><SimBadge quality={e?.quality} /></div>
      <div className="kpi-row">
        <EvidenceButton of={{ kind: "coverage", scope: "cluster", id: "" }} className="big"><Value text={coverage(e?.coverage, e?.gap_seconds, e?.partial_seconds)} reason={t(e ? "unknown.no_data" : "unknown.no_accounts")} /></EvidenceButton>
        {e && known(e.coverage) !== null && <span className="cover-bar" aria-hidden="true"><span style={{ width: `${Math.floor((e.coverage ?? 0) * 100)}%` }} /></span>}
      </div>
      {e && coverageIsLow(e.coverage) ? <CoverageNote energy={e} /> : e && <MissingLine energy={e} unread={d.power_now.devices_total - d.power_now.devices_known} />}
      <div className="line"><Link to={hrefTo("/nodes")}>{t("dash.live_silent", { live: d.nodes.live, silent: d.nodes.silent })}</Link></div>
    </section>
  );
}

/** Alerts whose subject is no node. */
const kOfZone: ReadonlySet<string> = new Set(["conservation", "carbon_degraded", "carbon_off"]);

function Alerts({ d }: { d: DashboardStats }): JSX.Element {
  const { t, time, age, code } = useWords();
  const total = Math.max(d.alerts_total ?? 0, d.alerts.length);
  const list = sorted(d.alerts, (a) => a.subject, false);
  return (
    <div id="alerts">
      <div className="card-head"><h2>{t("dash.alerts")}</h2><span className="dim num">{count(total)}</span>{total > list.length && <span className="dim small">{t("dash.alerts.some", { n: count(list.length), total: count(total) })}</span>}</div>
      {d.alerts.length === 0 ? <div className="line dim">{t("dash.alerts.none")}</div> : (
        <ul className="alert-list" aria-live="polite" tabIndex={0}>
          {list.map((a) => (
            <li key={`${a.kind}${a.subject}`} title={a.text}>
              <span className="warn-text" aria-hidden="true">▲</span>
              <span>{kOfZone.has(a.kind) ? a.subject : <Link to={hrefToNode(a.subject, a.cluster)}>{a.subject}</Link>} {code("alert", a.kind, a.text)}</span>
              <span className="dim" title={a.since === null ? undefined : time(a.since)}>{a.since === null ? "" : age(a.since)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const kTabs = ["tasks", "nodes", "teams"] as const;

function Top({ d }: { d: DashboardStats }): JSX.Element {
  const { t } = useWords();
  const [tab, setTab] = useQueryValue("tab", "tasks");
  const active = kTabs.find((x) => x === tab) ?? "tasks";
  const [focus, setFocus] = useState(0);
  return (
    <div className="top">
      <div className="card-head tabs" role="tablist">
        {kTabs.map((x, i) => (
          <button key={x} type="button" role="tab" aria-selected={active === x} tabIndex={active === x ? 0 : -1} onClick={() => setTab(x)}
            onKeyDown={(e) => {
              const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
              if (step === 0) return;
              const next = kTabs[(i + step + kTabs.length) % kTabs.length] ?? "tasks";
              setTab(next);
              setFocus(focus + 1);
              (e.currentTarget.parentElement?.querySelectorAll("button")[kTabs.indexOf(next)] as HTMLElement | undefined)?.focus();
            }}>
            {t(`dash.top.${x}`)}
          </button>
        ))}
        <SimBadge quality={d.energy_summary?.quality} />
      </div>
      <TopTable d={d} tab={active} rows={d.top[active]} />
    </div>
  );
}

function TopTable({ d, tab, rows }: { d: DashboardStats; tab: (typeof kTabs)[number]; rows: TopRow[] }): JSX.Element {
  const { t } = useWords();
  const e = d.energy_summary;
  const total = microjoules(e?.energy_uj);
  const apart = d.unattributed;
  const loose = tab === "nodes" ? 0n : microjoules(apart?.energy_uj) ?? 0n;
  const listed = sumMicrojoules(rows.map((r) => r.energy_uj ?? "0"));
  const rest = total !== null && listed !== null ? total - listed - loose : null;
  const factor = e?.emission_factor?.value ?? null;
  const showCarbon = e !== undefined && !e.carbon_hidden_reason;
  const [unit, div] = pickFor(kEnergy, [e?.energy_kwh]);
  const [mass, massDiv] = pickFor(kMass, [e?.carbon_kgco2e]);
  const share = (uj: bigint | null): number | null => (uj === null || total === null || total === 0n ? null : Number((uj * 1_000_000n) / total) / 1e6);
  const carbonOf = (kwhValue: number | null): number | null => (kwhValue === null || factor === null ? null : kwhValue * factor);
  const line = (key: string, name: JSX.Element, kwhValue: number | null, kg: number | null, cover: string | null, portion: number | null, extra: { team: string; badge: JSX.Element } | null, className = "", linked = false, low = false): JSX.Element => (
    <tr key={key} className={className} {...(linked ? { "data-row": key } : {})}>
      <td className="name">{name}</td>
      {tab === "tasks" && <><td className="opt">{extra?.team}</td><td>{extra?.badge}</td></>}
      <td className="r" data-unit={kwhValue === null ? undefined : unit}><Value text={number(kwhValue === null ? null : kwhValue / div)} reason={t("unknown.no_data")} /></td>
      {showCarbon && <td className="r" data-unit={kg === null ? undefined : mass}><Value text={number(kg === null ? null : kg / massDiv)} reason={t("unknown.carbon")} /></td>}
      <td className={low ? "r opt warn-text" : "r opt"}>{cover === null ? "" : cover === kUnknown ? <Unknown reason={t("unknown.no_data")} /> : cover}{low && <span aria-hidden="true"> ▲</span>}</td>
      <td className="share-cell"><span className={`share ${className}`}><span style={{ width: `${Math.max(0, Math.min(1, portion ?? 0)) * 100}%` }} /></span><span className="num">{percent(portion)}</span></td>
    </tr>
  );
  return (
    <>
    <table className="table fixed top-table">
      <thead>
        <tr>
          <th scope="col">{t(tab === "tasks" ? "col.task" : tab === "nodes" ? "col.node" : "col.team")}</th>
          {tab === "tasks" && <><th scope="col" className="opt">{t("col.team")}</th><th scope="col">{t("col.attribution")}</th></>}
          <th scope="col" className="r">{t("col.energy", { unit })}</th>
          {showCarbon && <th scope="col" className="r">{t("col.carbon", { unit: `${mass}\u00a0${gasName(e?.emission_factor?.gas)}` })}</th>}
          <th scope="col" className="r opt">{t("col.coverage")}</th>
          <th scope="col" className="r">{t("col.share")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((r) => line(r.id,
          tab === "teams" ? <span>{r.id}</span> : <Link to={hrefTo(`/${tab}/${encodeURIComponent(r.id)}`, r.cluster === "default" ? {} : { cluster: r.cluster })}>{r.id}</Link>,
          r.energy_kwh, r.carbon_kgco2e ?? null, coverage(r.coverage, r.gap_seconds, r.partial_seconds), share(microjoules(r.energy_uj)),
          tab === "tasks" ? { team: r.team ?? "", badge: <AttributionBadge value={r.attribution} /> } : null, "", true, coverageIsLow(r.coverage)))}
        {rest !== null && rest > 0n && line("~other", <span className="dim">{t("dash.top.other")}</span>, kwhOf(rest), carbonOf(kwhOf(rest)), null, share(rest), null, "rest")}
        {tab !== "nodes" && apart && line("~unattributed", <span title={t("tasks.unattributed.note")} data-unattributed={apart.energy_uj ?? ""}>{t("word.unattributed")}</span>, known(apart.energy_kwh), carbonOf(known(apart.energy_kwh)), null, share(microjoules(apart.energy_uj)), null, "unattributed")}
        {line("~total", <strong>{t("word.total")}</strong>, e?.energy_kwh ?? null, e?.carbon_kgco2e ?? null, coverage(e?.coverage, e?.gap_seconds, e?.partial_seconds), total === null ? null : 1, null, "total")}
      </tbody>
      {(rest !== null && rest < 0n) && <tfoot><tr><td colSpan={7} className="bad-text">▲ {t("dash.top.diff", { d: exactMicrojoules(-rest) })}</td></tr></tfoot>}
    </table>
    {!apart && e && <div className="line dim">{t("tasks.unattributed.hidden")}</div>}
    </>
  );
}

