/** A month, quarter or year by cluster, node, team, group or task: both methods beside each other, and money. */
import { useState, type ReactNode } from "react";
import { reportHref, useReport, type Figure, type Report, type ReportLine } from "../api/carbon";
import { useSession } from "../api/queries";
import { useQueryValue } from "../app/router";
import { kCfeScale } from "../chart/classes";
import { HeatMap } from "../chart/HeatMap";
import { count, coverage, coverageIsLow, gasName, kUnknown, number, percent } from "../format/number";
import { useWords, type MessageKey } from "../i18n";
import { FactorLine } from "../ui/FactorLine";
import { Empty, ErrorBox, Guard, Skeleton } from "../ui/States";
import { Unknown, Value } from "../ui/Value";

const kScopes = ["cluster", "node", "team", "task_group", "task"] as const;
const kFormats = ["html", "csv", "json", "md"] as const;

/** This month and the twelve before, the quarters and years they are in. */
export function periods(now: Date): string[] {
  const out: string[] = [];
  const quarters = new Set<string>();
  const years = new Set<string>();
  for (let back = 0; back < 13; back += 1) {
    const d = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1));
    const y = d.getUTCFullYear();
    out.push(`${y}-${String(d.getUTCMonth() + 1).padStart(2, "0")}`);
    quarters.add(`${y}-Q${Math.floor(d.getUTCMonth() / 3) + 1}`);
    years.add(String(y));
  }
  return [...out, ...quarters, ...years];
}

export function Reports(): JSX.Element {
  const { t, code, lang } = useWords();
  const session = useSession();
  const tenant = session.data?.role === "tenant";
  const all = periods(new Date());
  const [period, setPeriod] = useQueryValue("period", all[0] ?? "");
  const [scope, setScope] = useQueryValue("scope", tenant ? "team" : "cluster");
  const [id, setId] = useQueryValue("id");
  const [draft, setDraft] = useState(id);
  const [sim, setSim] = useQueryValue("sim");
  const question = { period, scope, id, simulated: sim === "1" };
  const report = useReport(question);
  return (
    <>
      <div className="toolbar page-head"><h1>{t("reports.title")}</h1></div>
      <div className="grid">
        <form className="card span12 report-form" onSubmit={(e) => { e.preventDefault(); setId(draft); }}>
          <label className="check">{t("reports.period")}<select value={period} onChange={(e) => setPeriod(e.target.value)}>{(all.includes(period) ? all : [period, ...all]).map((p) => <option key={p} value={p}>{p}</option>)}</select></label>
          <label className="check">{t("reports.by")}<select value={scope} onChange={(e) => setScope(e.target.value)}>{kScopes.filter((s) => !tenant || (s !== "cluster" && s !== "node")).map((s) => <option key={s} value={s}>{code("reports.scope", s)}</option>)}</select></label>
          <label className="check">{t("reports.only")}<input type="text" value={draft} onChange={(e) => setDraft(e.target.value)} onBlur={() => setId(draft)} placeholder={t("reports.all")} /></label>
          {session.data?.simulated && <label className="check"><input type="checkbox" checked={sim === "1"} onChange={(e) => setSim(e.target.checked ? "1" : "")} />{t("reports.with_simulated")}</label>}
          <span className="grow" />
          {kFormats.map((f) => <a key={f} className="button small" href={reportHref(question, f, lang)} target={f === "html" ? "_blank" : undefined} rel="noreferrer" download={f === "html" ? undefined : ""}>⤓ {f.toUpperCase()}</a>)}
        </form>
        {report.isPending && <div className="card span12"><Skeleton lines={10} /></div>}
        {report.isError && <div className="span12"><ErrorBox error={report.error} what={t("what.report")} retry={() => void report.refetch()} /></div>}
        {report.data && <Guard resetKey={JSON.stringify(question)}><Body r={report.data} /></Guard>}
      </div>
    </>
  );
}

function Body({ r }: { r: Report }): JSX.Element {
  const { t, code, range, time } = useWords();
  const gas = gasName(r.emission_factor?.gas);
  const hourly = r.total.carbon?.hourly_signal;
  const cfe = r.days.some((d) => d.cfe_share.some((v) => v !== null));
  return (
    <>
      <section className="card span12" aria-label={t("reports.about")}>
        {r.simulated === "included" && <p className="message warn">▲ {t("reports.simulated")}</p>}
        {r.emission_factor && !r.emission_factor.configured && <p className="message warn">▲ {t("reports.placeholder")}</p>}
        {r.carbon_hidden_reason && <p className="message">{code("reason", r.carbon_hidden_reason)}</p>}
        <p className="line">{range(r.from, r.to)} · {r.sealed ? t("reports.sealed") : t("reports.open")}{r.seals.map((s) => <span key={s.month} className="dim" title={s.hash ?? ""}> · {s.month} {time(s.sealed_at)} {s.hash ? <code>{s.hash.slice(0, 8)}…</code> : kUnknown}</span>)}</p>
        {r.emission_factor && <div className="line"><FactorLine factor={r.emission_factor} /><span className="dim">{t("factor.method")} · {code("carbon.kind", r.emission_factor.kind)} · {code("carbon.boundary", r.emission_factor.boundary)}</span></div>}
        {(r.zone_factors ?? []).map((f) => <div key={`${f.zone} ${f.year ?? ""}`} className="line"><span>{f.zone}</span><FactorLine factor={f} /></div>)}
        {r.series.map((s) => <p key={s.zone} className="line dim">{t("reports.series", { zone: s.zone, kind: code("carbon.kind", s.kind), boundary: code("carbon.boundary", s.boundary), basis: code("carbon.basis", s.basis), n: s.known_hours, of: s.window_hours })}</p>)}
        <p className="line dim" data-pue={r.pue.from ?? ""}>{r.pue.value === null ? <>{t("reports.pue")} <Value text={kUnknown} reason={code("reason", r.pue.reason)} /> {code("reason", r.pue.reason)}</>
          : r.pue.from === "metered" ? t("reports.pue.metered", { v: number(r.pue.value), n: r.pue.metered_hours })
          : t("reports.pue.stated", { v: number(r.pue.value), source: r.stated.pue?.source ?? t("unknown.not_stated") })}</p>
        {(["annual_factor", "hourly_signal"] as const).map((by) => r.cue_kg_per_kwh[by].value !== null && <p key={by} className="line dim">{t(`reports.cue.${by}`, { v: number(r.cue_kg_per_kwh[by].value) })}</p>)}
        {r.wue_l_per_kwh.value !== null && <p className="line dim">{t("reports.wue", { v: number(r.wue_l_per_kwh.value) })}</p>}
        {hourly && hourly.uncovered_hours > 0 && <p className="line warn-text">▲ {t("reports.uncovered", { n: hourly.uncovered_hours, kwh: number(hourly.uncovered_kwh) })}</p>}
        {r.total.adjustments && <p className="line warn-text">▲ {t("reports.adjusted", { kwh: number(r.total.adjustments.energy_kwh), n: r.total.adjustments.hours })}</p>}
        {r.simulated !== "included" && r.total.simulated_kwh > 0 && <p className="line dim">{t("reports.left_out", { kwh: number(r.total.simulated_kwh) })}</p>}
      </section>
      {r.lines.length === 0 ? <div className="span12"><Empty>{t("reports.empty")}</Empty></div> : <>
        <Sheet r={r} title={t("reports.energy")} columns={[
          ["reports.c.kwh", (l) => <Value text={number(l.energy_kwh)} reason={t("unknown.no_data")} />],
          ["reports.c.coverage", (l) => <span className={coverageIsLow(l.coverage) ? "warn-text" : ""}><Value text={coverage(l.coverage, l.gap_seconds)} reason={t("unknown.no_data")} />{coverageIsLow(l.coverage) ? " ▲" : ""}</span>],
          ["reports.c.shared", (l) => number(l.shared_kwh)],
          ["reports.c.adjustments", (l) => number(l.adjustments?.energy_kwh ?? 0)],
        ]} />
        {r.total.carbon && <Sheet r={r} title={`${t("reports.carbon")} · kg ${gas}`} columns={[
          ["reports.c.annual", (l) => <Amount of={l.carbon?.annual_factor.kgco2e} />],
          ["reports.c.hourly", (l) => <Amount of={l.carbon?.hourly_signal.kgco2e} />],
          ["reports.c.carbon_coverage", (l) => <Value text={percent(l.carbon?.hourly_signal.carbon_coverage)} reason={t("unknown.no_data")} />],
          ["reports.c.ci_used", (l) => <Value text={number(l.carbon?.hourly_signal.ci_used_g_per_kwh)} reason={t("reason.no_signal")} />],
          ["reports.c.s2_annual", (l) => <Amount of={l.carbon?.scope2.location_based_annual_kgco2e} />],
          ["reports.c.s2_hourly", (l) => <Amount of={l.carbon?.scope2.location_based_hourly_kgco2e} />],
          ["reports.c.s2_market", (l) => <Amount of={l.carbon?.scope2.market_based_kgco2e} />],
        ]} />}
        {r.total.carbon && <Sheet r={r} title={t("reports.beside")} columns={[
          ["reports.c.saved_average", (l) => <Amount of={l.carbon?.savings.attributional_kgco2e} />],
          ["reports.c.saved_marginal", (l) => <Amount of={l.carbon?.savings.consequential_kgco2e} />],
          ["reports.c.upstream", (l) => <Amount of={l.carbon?.scope3_3.upstream_kgco2e} />],
          ["reports.c.losses", (l) => <Amount of={l.carbon?.scope3_3.losses_kgco2e} />],
          ["reports.c.overhead", (l) => <Amount of={l.carbon?.overhead.kgco2e} />],
          ["reports.c.embodied", (l) => <Amount of={l.carbon?.embodied.kgco2e} />],
          ["reports.c.sci", (l) => <Amount of={l.carbon?.sci.g_per_device_hour} />],
          ["reports.c.sci_token", (l) => <Amount of={l.carbon?.sci.g_per_token} />],
        ]} />}
        {(r.total.carbon?.savings.moved_tasks ?? 0) > 0 && <p className="span12 dim foot-notes">{t("reports.moved", { n: r.total.carbon?.savings.moved_tasks ?? 0, none: r.total.carbon?.savings.tasks_without_figure ?? 0 })}</p>}
        <Sheet r={r} title={t("reports.money")} columns={[
          ["reports.c.energy_cost", (l) => <Amount of={l.money.energy_cost} unit={r.stated.currency} />],
          ["reports.c.peak", (l) => <Value text={number(l.money.peak_kw)} reason={t("unknown.no_data")} />],
          ["reports.c.demand", (l) => <Amount of={l.money.demand_cost} unit={r.stated.currency} />],
          ["reports.c.carbon_cost", (l) => <Amount of={l.money.carbon_cost_eur} unit="EUR" />],
          ["reports.c.cfe", (l) => <Amount of={l.cfe_share} share />],
        ]} />
        {cfe && <section className="card span12"><div className="card-head"><h2>{t("reports.cfe")}</h2></div><HeatMap days={r.days.map((d) => ({ label: d.day, cells: d.cfe_share }))} scale={kCfeScale} shown={wholePercent} caption={t("reports.cfe.caption")} label={t("reports.cfe")} />
          {r.battery && <p className="line">{t("reports.battery", { without: percent(r.battery.cfe_share_without), with: percent(r.battery.cfe_share_with), kwh: number(r.battery.delivered_kwh), cost: `${number(r.battery.cost)} ${r.stated.currency}` })}</p>}</section>}
        <p className="span12 dim foot-notes">{t("reports.never_added")} {t("reports.price", { eur: number(r.stated.carbon_price_eur_per_tonne) })}</p>
      </>}
    </>
  );
}

const wholePercent = (share: number): string => `${count(share * 100)}%`;

/** A figure, or "—" with the reason that the server gave. */
function Amount({ of, unit = "", share = false }: { of: Figure | undefined; unit?: string; share?: boolean }): JSX.Element {
  const { t, code } = useWords();
  if (!of || of.value === null) return <Unknown reason={of?.reason ? code("reason", of.reason) : t("word.unknown")} />;
  return <Value text={share ? percent(of.value) : number(of.value)} unit={unit} reason="" />;
}

function Sheet({ r, title, columns }: { r: Report; title: string; columns: readonly (readonly [MessageKey, (l: ReportLine) => ReactNode])[] }): JSX.Element {
  const { t, code } = useWords();
  return (
    <section className="card span12" aria-label={title}>
      <div className="card-head"><h2>{title}</h2></div>
      <div className="wide-table"><table className="table report-table">
        <thead><tr><th scope="col">{code("reports.scope", r.scope)}</th>{columns.map(([key]) => <th key={key} scope="col" className="r">{t(key)}</th>)}</tr></thead>
        <tbody>{r.lines.map((l) => <tr key={`${l.cluster ?? ""}/${l.id}`} data-row={l.id}><td className="name" title={l.id}>{l.id}</td>{columns.map(([key, cell]) => <td key={key} className="r">{cell(l)}</td>)}</tr>)}</tbody>
        <tfoot>
          <tr className="total"><td>{t("reports.total")}</td>{columns.map(([key, cell]) => <td key={key} className="r">{cell(r.total)}</td>)}</tr>
          {r.unattributed_kwh !== null && columns[0]?.[0] === "reports.c.kwh" && <tr className="unattributed"><td>{t("reports.unattributed")}</td><td className="r">{number(r.unattributed_kwh)}</td><td colSpan={columns.length - 1} /></tr>}
        </tfoot>
      </table></div>
    </section>
  );
}
