import { useMemo } from "react";
import { useEndpoints, useEnergy, usePower, useTask } from "../api/queries";
import type { PowerCurves, PowerSeries, TaskEnergy } from "../api/types";
import { hrefTo, hrefToNode, Link, useQueryValue } from "../app/router";
import { useRange } from "../app/Shell";
import { deviceLines } from "../chart/lines";
import { Series } from "../chart/Series";
import { coverage, coverageIsLow, exactMicrojoules, gasName, kEnergy, kMass, known, kUnknown, kwh, microjoules, number, pickFor, quantity, sumMicrojoules } from "../format/number";
import { isoText, millis } from "../format/time";
import { knownKey, useWords } from "../i18n";
import { AttributionBadge, SimBadge } from "../ui/Badges";
import { EvidenceButton } from "../ui/Evidence";
import { FactorLine } from "../ui/FactorLine";
import { deviceName } from "../ui/device";
import { HourlyCarbon } from "../ui/HourlyCarbon";
import { bridged, CoverageNote, MissingLine, Notes } from "../ui/Notes";
import { ErrorBox, Guard, Skeleton } from "../ui/States";
import { Unknown, Value } from "../ui/Value";
import { frameOf, sumLine } from "./curves";
import { TaskEndpointsCard } from "./TaskEndpoints";
import { TaskOutlook } from "./TaskOutlook";
import { useZoom } from "./useZoom";

export function TaskDetail({ id }: { id: string }): JSX.Element {
  const { t } = useWords();
  const range = useRange();
  const [cluster] = useQueryValue("cluster");
  const [auto, setAuto] = useQueryValue("auto", "on");
  const [zoom, setZoom] = useZoom();
  const every = auto === "on" ? 20_000 : false;
  const energy = useEnergy("task", id, cluster, range, every);
  const task = useTask(id, cluster, range, every);
  const endpoints = useEndpoints(id, cluster, range, every);
  const curves = usePower("task", id, cluster, range, zoom, every);
  if (energy.isPending) return <div className="sheet"><Skeleton lines={16} /></div>;
  if (energy.isError && !energy.data) return <ErrorBox error={energy.error} what={t("what.task", { id })} retry={() => void energy.refetch()} />;
  const e: TaskEnergy = { ...energy.data, allocations: energy.data.allocations ?? [] };
  return (
    <div className="page">
      <div className="toolbar">
        <Link to={hrefTo("/tasks")} className="crumb">{t("nav.tasks")}</Link><span className="dim" aria-hidden="true">›</span>
        <h1>{id}</h1> <SimBadge quality={e.quality} /> <AttributionBadge value={e.attribution} />
        <span className="grow" />
        <label className="check"><input type="checkbox" role="switch" checked={auto === "on"} onChange={(x) => setAuto(x.target.checked ? "on" : "off")} />{t("node.auto20")}</label>
      </div>
      <Guard><Cards e={e} cluster={cluster} asked={range} every={every} /></Guard>
      {task.isError && <ErrorBox error={task.error} what={t("what.task", { id })} retry={() => void task.refetch()} />}
      {task.data && <Guard><TaskOutlook task={task.data} /></Guard>}
      {curves.isError && <ErrorBox error={curves.error} what={t("what.power")} retry={() => void curves.refetch()} />}
      {curves.isPending ? <div className="card"><Skeleton lines={8} /></div> : curves.data && <Guard><Curves c={curves.data} identity={`${cluster}/${id}/${range}`} zoom={zoom} setZoom={setZoom} pending={curves.isPlaceholderData} e={e} /></Guard>}
      {endpoints.isError && <ErrorBox error={endpoints.error} what={t("endpoints.title")} retry={() => void endpoints.refetch()} />}
      {endpoints.data && <Guard><TaskEndpointsCard of={endpoints.data} /></Guard>}
      <Guard><Where e={e} /></Guard>
    </div>
  );
}

function Cards({ e, cluster, asked, every }: { e: TaskEnergy; cluster: string; asked: string; every: number | false }): JSX.Element {
  const { t, code, range, duration } = useWords();
  const id = e.id;
  const q = quantity(e.energy_kwh, kEnergy);
  const m = quantity(e.carbon_kgco2e, kMass);
  const sim = e.quality === "simulated" || e.quality === "mixed" ? "sim-edge" : "";
  const total = known(e.energy_kwh);
  const shared = known(e.shared_energy_kwh) ?? 0;
  const portion = total !== null && total > 0 ? Math.min(1, shared / total) : null;
  const note = e.notes.find((n) => n.code === "shared_card");
  const tasks = known(note?.params?.["tasks"]);
  const percentOf = known(note?.params?.["share_percent"]);
  return (
    <div className="grid">
      <section className={`card kpi span4 ${sim}`} aria-label={t("task.energy")}>
        <div className="card-head"><h2>{t("task.energy")}</h2><SimBadge quality={e.quality} /></div>
        <div className="kpi-row"><EvidenceButton of={{ kind: "energy", scope: "task", id }} className="big"><Value text={q.text} unit={q.unit} reason={t("unknown.no_data")} /></EvidenceButton></div>
        {portion !== null && (
          <svg className="share-bar" width="100%" height="10" role="img" aria-label={t("word.labelled", { what: t("task.share_bar"), text: kwh(shared) })}>
            <rect width="100%" height="10" fill="var(--tw-accent)" />
            <rect x={`${(1 - portion) * 100}%`} width={`${portion * 100}%`} height="10" fill="var(--tw-surface)" />
            <rect x={`${(1 - portion) * 100}%`} width={`${portion * 100}%`} height="10" fill="url(#tw-stripe)" />
          </svg>
        )}
        <div className="line">{e.attribution === "exclusive" ? t("task.attr.exclusive") : e.attribution === "shared_estimated"
          ? tasks !== null && percentOf !== null
            ? t("task.shared", { n: tasks, p: `≈ ${number(percentOf)}%`, dim: t(knownKey("task.dim", note?.params?.["dimension"]) ?? "task.dim.unknown") })
            : t("task.shared.part", { e: `≈ ${kwh(shared)}`, d: duration(e.shared_seconds) })
          : t("task.attr.unknown")}</div>
        <div className="line dim">{t("total.hours", { range: range(e.from, e.to) })}</div>
      </section>
      <section className={`card kpi span4 ${sim}`} aria-label={t("task.carbon")} data-card="carbon">
        <div className="card-head"><h2>{t("task.carbon")}</h2><SimBadge quality={e.quality} /></div>
        {e.carbon_hidden_reason ? <div className="line">{code("reason", e.carbon_hidden_reason)}</div> : <>
          <div className="kpi-row"><EvidenceButton of={{ kind: "carbon", scope: "task", id }} className="big"><Value text={m.text} unit={m.unit === "" ? "" : `${m.unit}\u00a0${gasName(e.emission_factor?.gas)}`} reason={t("unknown.carbon")} /></EvidenceButton></div>
          {e.emission_factor && <><FactorLine factor={e.emission_factor} /><div className="line dim">{t("factor.method")}</div></>}
          <HourlyCarbon scope="task" id={id} cluster={cluster} range={asked} every={every} />
        </>}
      </section>
      <section className={`card kpi span4 ${sim}`} aria-label={t("word.coverage")}>
        <div className="card-head"><h2>{t("word.coverage")}</h2><SimBadge quality={e.quality} /></div>
        <div className="kpi-row"><EvidenceButton of={{ kind: "coverage", scope: "task", id }} className="big"><Value text={coverage(e.coverage, e.gap_seconds, e.partial_seconds)} reason={t("unknown.no_data")} /></EvidenceButton></div>
        {coverageIsLow(e.coverage) ? <CoverageNote energy={e} /> : <MissingLine energy={e} />}
        <Notes energy={e} />
      </section>
    </div>
  );
}

function Curves({ c, identity, zoom, setZoom, pending, e }: { pending: boolean; c: PowerCurves; identity: string; zoom: { from: number; to: number } | null; setZoom: (w: { from: number; to: number } | null) => void; e: TaskEnergy }): JSX.Element {
  const { t } = useWords();
  const data = useMemo(() => {
    const nodes = new Set(c.series.map((s) => s.node_id));
    const name = (s: PowerSeries): string => {
      const device = deviceName(t, s);
      return nodes.size > 1 ? `${s.node_id} ${device}` : device;
    };
    const domain = c.series.some((s) => s.domain === "gpu") ? "gpu" : (c.series[0]?.domain ?? "gpu");
    const lines = deviceLines(c.series, domain, name);
    const ofCards = domain === "gpu";
    return { ofCards, frame: frameOf(c, Date.now()), lines: [...lines, ...(lines.length > 1 ? sumLine(c.series, domain, t("node.sum_selected")) : [])] };
  }, [c, t]);
  const window = zoom ?? data.frame;
  const kept = data.frame.from < data.frame.keptFrom - 60_000 ? <span>{t("chart.retention", { n: Math.round(c.retention_seconds / 86_400) })}</span> : null;
  return (
    <Series id="task" title={(unit) => t("task.power", { unit })} lines={data.lines} {...data.frame} from={window.from} to={window.to} zoomed={zoom !== null} onZoom={setZoom} pending={pending} bridged={bridged(e)} life={{ from: millis(e.first_sample_at), to: millis(e.last_sample_at), outside: "not_running" }} identity={identity} height={220}
      badges={<>{c.whole_card !== false && <span className="badge">{t(data.ofCards ? "badge.whole_card" : "badge.whole_device")}</span>}<SimBadge quality={e.quality} /></>}
      note={<>{c.whole_card !== false && <span>{t(data.ofCards ? "task.whole_card" : "task.whole_device")}</span>}{kept}</>} />
  );
}

function Where({ e }: { e: TaskEnergy }): JSX.Element {
  const { t, time, code } = useWords();
  const [unit, div] = pickFor(kEnergy, [e.energy_kwh]);
  const total = microjoules(e.energy_uj);
  const sum = sumMicrojoules(e.allocations.map((a) => a.energy_uj ?? "0"));
  const diff = total !== null && sum !== null ? sum - total : null;
  const cell = (v: number | null): string => number(known(v) === null ? null : (v ?? 0) / div);
  return (
    <section className="card">
      <div className="card-head"><h2>{t("task.where")}</h2><SimBadge quality={e.quality} />{diff !== null && (diff === 0n ? <span className="dim">✓ {t("task.where.match")}</span> : <span className="bad-text">▲ {t("task.where.mismatch", { d: exactMicrojoules(diff) })}</span>)}</div>
      {e.allocations.length === 0 ? <div className="line dim">{t("task.where.none")}</div> : (
        <div className="scroll-x">
          <table className="table wide">
            <thead><tr><th scope="col">{t("col.node")}</th><th scope="col">{t("col.device")}</th><th scope="col">{t("col.span")}</th><th scope="col">{t("col.attribution")}</th><th scope="col" className="r">{t("col.coverage")}</th><th scope="col" className="r">{t("col.energy", { unit })}</th></tr></thead>
            <tbody>
              {e.allocations.map((a) => (
                <tr key={`${a.node_id}/${a.domain}/${a.device_index}`} data-row={a.node_id} data-uj={a.energy_uj ?? ""}>
                  <td className="name"><Link to={hrefToNode(a.node_id, e.cluster)}>{a.node_id}</Link></td>
                  <td>{a.domain === "gpu" ? t("node.gpu", { i: a.device_index }) : t("node.domain", { domain: code("", a.domain), i: a.device_index })}</td>
                  <td title={`${isoText(a.first_sample_at)} / ${isoText(a.last_sample_at)}`}>{a.first_sample_at === null ? <Unknown reason={t("unknown.no_data")} /> : `${time(a.first_sample_at)} – ${a.last_sample_at === null ? kUnknown : time(a.last_sample_at)}`}</td>
                  <td><AttributionBadge value={a.attribution} /></td>
                  <td className={coverageIsLow(a.coverage) ? "r warn-text" : "r"}><Value text={coverage(a.coverage, 0, a.partial_seconds)} reason={t("unknown.no_data")} />{coverageIsLow(a.coverage) && <span aria-hidden="true"> ▲</span>}</td>
                  <td className="r"><Value text={cell(a.energy_kwh)} reason={t("unknown.no_data")} /></td>
                </tr>
              ))}
              <tr className="total" data-total={e.energy_uj ?? ""}><td className="name" colSpan={4}><strong>{t("word.total")}</strong></td><td className="r"><Value text={coverage(e.coverage, e.gap_seconds, e.partial_seconds)} reason={t("unknown.no_data")} /></td><td className="r"><Value text={cell(e.energy_kwh)} reason={t("unknown.no_data")} /></td></tr>
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
