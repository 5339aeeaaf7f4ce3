import { useMemo } from "react";
import { useCarbonRate, useEnergy, useNode, usePower } from "../api/queries";
import { useLive } from "../api/stream";
import type { Device, Energy, NodeDetail, PowerCurves, PowerSeries } from "../api/types";
import { hrefTo, Link, useQueryValue } from "../app/router";
import { useRange } from "../app/Shell";
import { deviceLines, glyphOf } from "../chart/lines";
import { Series } from "../chart/Series";
import { bytes, coverage, coverageIsLow, gasName, kEnergy, factor as published, known, kWatts, microjoules, number, percent, pickFor, quantity } from "../format/number";
import { isoText, millis } from "../format/time";
import { useWords } from "../i18n";
import { EstimateBadge, ReplayBadge, SimBadge } from "../ui/Badges";
import { EvidenceButton } from "../ui/Evidence";
import { deviceName } from "../ui/device";
import { SignalNow } from "../ui/HourlyCarbon";
import { ownReason, plainReason } from "../ui/sources";
import { bridged, CoverageNote, MissingLine, Notes } from "../ui/Notes";
import { ErrorBox, Guard, Skeleton } from "../ui/States";
import { Unknown, Value } from "../ui/Value";
import { Why } from "../ui/Why";
import { frameOf, railLines, singleLine, sumLine } from "./curves";
import { useZoom } from "./useZoom";

export function NodeMonitor({ id }: { id: string }): JSX.Element {
  const { t } = useWords();
  const range = useRange();
  const [cluster] = useQueryValue("cluster");
  const [auto, setAuto] = useQueryValue("auto", "on");
  const [zoom, setZoom] = useZoom();
  const every = auto === "on" ? 30_000 : false;
  const node = useNode(id, cluster, range, every);
  const energy = useEnergy("node", id, cluster, range, every);
  const curves = usePower("node", id, cluster, range, zoom, every);
  if (node.isPending) return <div className="sheet"><Skeleton lines={16} /></div>;
  if (node.isError && !node.data) return <ErrorBox error={node.error} what={t("what.node", { id })} retry={() => void node.refetch()} />;
  return (
    <div className="page">
      <Guard><Head n={node.data} cluster={cluster} range={range} every={every} auto={auto} setAuto={setAuto} /></Guard>
      {curves.isError && <ErrorBox error={curves.error} what={t("what.power")} retry={() => void curves.refetch()} />}
      {curves.isPending ? <div className="card"><Skeleton lines={8} /></div> : curves.data && <Guard><Charts id={id} c={curves.data} n={node.data} identity={`${cluster}/${id}/${range}`} zoom={zoom} setZoom={setZoom} pending={curves.isPlaceholderData} e={energy.data} /></Guard>}
      <Guard><Devices n={node.data} c={curves.data} /></Guard>
      {!node.data.partial_view && <Guard><Sources n={node.data} /></Guard>}
    </div>
  );
}

interface HeadProps { n: NodeDetail; cluster: string; range: string; every: number | false; auto: string; setAuto: (v: string) => void }

function Head({ n, cluster, range, every, auto, setAuto }: HeadProps): JSX.Element {
  const { t, duration, short, time, code, range: span } = useWords();
  const live = useLive();
  const rate = useCarbonRate(n.node_id, cluster, every);
  const energy = useEnergy("node", n.node_id, cluster, range, every);
  // What streams in is the whole node's power, which a team does not see.
  const now = n.partial_view ? null : live.power.has(`${n.cluster}/${n.node_id}`) ? live.power.get(`${n.cluster}/${n.node_id}`) : n.power_watts;
  const e = energy.data;
  const grams = rate.data?.grams_per_hour;
  const q = quantity(known(grams) === null ? null : (grams ?? 0) / 1000, [["kg", 1], ["t", 1e3]]);
  const p = quantity(now, kWatts);
  const kw = quantity(n.energy_kwh, kEnergy);
  const gas = gasName(e?.emission_factor?.gas);
  const kind = code("node.rate", rate.data?.kind);
  const offset = known(n.clock_offset_seconds);
  return (
    <div className="head">
      <div className="toolbar">
        <Link to={hrefTo("/nodes")} className="crumb">{t("nav.nodes")}</Link><span className="dim" aria-hidden="true">›</span>
        <h1>{n.node_id}</h1> <SimBadge quality={n.simulated ? "simulated" : ""} /> <ReplayBadge of={n} />
        {n.state === "live" ? <span className="state live"><span aria-hidden="true">● </span>{t("nodes.state.live")}</span> : <span className="state silent"><span aria-hidden="true">◌ </span>{t("nodes.silent_for", { age: short(n.silent_seconds) })}</span>}
        <span className="dim opt">{[n.zone, n.cpu?.model, n.agent_version ? t("node.agent", { v: n.agent_version }) : null].filter((x) => x !== null && x !== undefined && x !== "").join(" · ")}</span>
        <span className="grow" />
        <label className="check"><input type="checkbox" role="switch" checked={auto === "on"} onChange={(x) => setAuto(x.target.checked ? "on" : "off")} />{t("node.auto")}</label>
      </div>
      <div className={`facts ${n.simulated ? "sim-edge" : ""}`}>
        <div className={live.stale ? "stale" : ""}><span className="label">{t("word.power_now")}</span>
          <EvidenceButton of={{ kind: "power", scope: "node", id: n.node_id }} className="mid"><Value text={p.text} unit={p.unit} reason={n.partial_view ? t("unknown.team_view") : n.state === "silent" ? t("unknown.silent", { age: duration(n.silent_seconds) }) : t("unknown.no_reading")} /></EvidenceButton>
          <span className="dim" title={isoText(n.last_sample_at)}>{n.partial_view ? t("dash.team_view") : t("dash.devices_known", { known: n.devices_known, total: n.devices_total })}{n.last_sample_at ? ` · ${time(n.last_sample_at, true)}` : ""}</span></div>
        <div><span className="label">{t("word.carbon")}</span>
          {rate.data?.carbon_hidden_reason ? <span className="dim small">{code("reason", rate.data.carbon_hidden_reason)}</span> : <>
            <EvidenceButton of={{ kind: "carbon", scope: "node", id: n.node_id }} className="mid"><Value text={q.text} unit={q.unit === "" ? "" : `${q.unit}\u00a0${gas}/h`} reason={n.partial_view ? t("unknown.team_view") : rate.data ? t("unknown.no_reading") : t("state.loading")} /></EvidenceButton>
            {known(rate.data?.intensity_g_per_kwh) !== null && <span className="dim">{number(Math.round(rate.data?.intensity_g_per_kwh ?? 0))} g/kWh · {kind} · {e?.emission_factor ? (e.emission_factor.configured ? e.emission_factor.source : <span className="nowrap">▲ {t("badge.placeholder")}</span>) : null}</span>}
            {rate.data && !n.partial_view && <SignalNow rate={rate.data} />}
          </>}</div>
        <div><span className="label">{t("word.energy")}</span>
          <EvidenceButton of={{ kind: "energy", scope: "node", id: n.node_id }} className="mid"><Value text={kw.text} unit={kw.unit} reason={t("unknown.no_data")} /></EvidenceButton>
          <span className="dim">{e ? t("total.hours", { range: span(e.from, e.to) }) : ""}</span></div>
        <div><span className="label">{t("word.coverage")}</span>
          <EvidenceButton of={{ kind: "coverage", scope: "node", id: n.node_id }} className="mid"><Value text={coverage(n.coverage, n.gap_seconds, n.partial_seconds)} reason={t("unknown.no_data")} /></EvidenceButton>
          {e && <MissingLine energy={e} unread={n.devices.filter((d) => inTotal(n.devices, d) && known(d.energy_kwh) === null).length} />}</div>
      </div>
      {e && <CoverageNote energy={e} />}
      {offset !== null && Math.abs(offset) >= 1 && <div className="line warn-text" data-note="clock">{t(offset > 0 ? "node.clock.ahead" : "node.clock.behind", { d: duration(Math.abs(offset)) })}</div>}
      {e && <Notes energy={e} />}
    </div>
  );
}

interface ChartsProps { id: string; c: PowerCurves; n: NodeDetail; identity: string; zoom: { from: number; to: number } | null; setZoom: (w: { from: number; to: number } | null) => void; pending: boolean; e: Energy | undefined }

function Charts({ id, c, n, identity, zoom, setZoom, pending, e }: ChartsProps): JSX.Element {
  const { t, code } = useWords();
  const data = useMemo(() => {
    const frame = frameOf(c, Date.now());
    const name = (s: PowerSeries): string => deviceName(t, s);
    const gpus = deviceLines(c.series, "gpu", name);
    const rails = railLines(c.series, name);
    // The node's sum belongs beside what it sums: the accelerators, or the rails of a node without any.
    const main = gpus.length > 0 ? "gpu" : "cpu_package";
    const sum = sumLine(c.series, main, t("node.sum", { what: main === "gpu" ? "GPU" : "CPU" }));
    const accelerators = gpus.length > 0 ? [...gpus, ...sum] : [];
    const railsAndSum = gpus.length > 0 ? rails : [...rails, ...sum];
    const meters = c.series.filter((s) => s.domain === "platform" && s.index >= 0).map((s) => ({ source: s.label ?? n.devices.find((d) => d.domain === "platform" && d.index === s.index)?.source ?? "platform", line: singleLine(s.key, s.label ?? "platform", s.node_id, s.points, "single") }));
    const estimate = c.cpu_estimate && c.cpu_estimate.points.length > 0 ? [singleLine("cpu_estimate", t("word.estimated"), id, c.cpu_estimate.points, "estimate")] : [];
    return { frame, accelerators, rails: railsAndSum, meters, estimate };
  }, [c, id, n.devices, t]);
  const days = Math.round(c.retention_seconds / 86_400);
  const kept = data.frame.from < data.frame.keptFrom - 60_000 ? <span>{t("chart.retention", { n: days })}</span> : null;
  const window = zoom ?? data.frame;
  const shared = { ...data.frame, from: window.from, to: window.to, zoomed: zoom !== null, onZoom: setZoom, identity, pending, bridged: bridged(e), ...(e ? { life: { from: millis(e.first_sample_at), to: n.partial_view ? millis(e.last_sample_at) : null, outside: n.partial_view ? "not_running" as const : "not_yet" as const } } : {}) };
  const sim = <><SimBadge quality={n.simulated ? "simulated" : c.series.some((s) => s.quality === "simulated") ? "mixed" : ""} /><ReplayBadge of={n} /></>;
  const hasAccelerators = data.accelerators.length > 0 || n.devices.some((d) => d.domain === "gpu");
  return (
    <>
      {hasAccelerators && <Series id="gpu" title={(unit) => t("node.accelerators", { unit })} lines={data.accelerators} {...shared} badges={sim} note={kept} height={260} />}
      {data.rails.length > 0 && <Series id="rails" title={(unit) => t("node.cpu", { unit })} lines={data.rails} {...shared} badges={sim} note={hasAccelerators ? null : kept} height={hasAccelerators ? 150 : 260} />}
      <div className="pair">
        {data.meters.map((m) => <Series key={m.line.key} id={m.line.key} title={(unit) => t("node.platform", { source: m.source, unit })} lines={[m.line]} {...shared} badges={sim} note={<span>{t("node.platform.note")}</span>} height={130} />)}
        {data.estimate.length > 0 ? (
          <Series id="cpu" title={(unit) => t("node.estimate", { unit })} lines={data.estimate} {...shared} bucketSeconds={Math.max(60, data.frame.bucketSeconds)} badges={<><EstimateBadge />{sim}</>} note={<span className="est-text">{t("node.estimate.note")}</span>} height={130} />
        ) : c.cpu_estimate_reason && c.cpu_estimate_reason !== "measured" ? (
          <section className="card" data-chart="cpu"><div className="card-head"><h2>{t("node.estimate", { unit: "W" })}</h2><EstimateBadge /></div><div className="line"><Unknown reason={code("reason", c.cpu_estimate_reason)} /> {code("reason", c.cpu_estimate_reason)}</div></section>
        ) : null}
      </div>
    </>
  );
}

const kSourceMarks: Record<string, string> = { ok: "●", failed: "○", starting: "◌" };

/** Every source of the node's agents with its state, so that a node without a device says why. */
function Sources({ n }: { n: NodeDetail }): JSX.Element {
  const { t, code } = useWords();
  const list = n.source_states ?? [];
  return (
    <section className="card span12" data-card="sources">
      <div className="card-head"><h2>{t("node.sources")}</h2></div>
      {list.length === 0 ? <div className="line dim">{t("node.sources.none")}</div> : (
        <>
          <table className="table wide sources">
            <thead><tr><th scope="col">{t("col.source")}</th><th scope="col">{t("col.state")}</th><th scope="col">{t("col.why")}</th></tr></thead>
            <tbody>
              {list.map((s, i) => {
                return (
                  <tr key={`${s.source}/${i}`} data-row={s.source} data-state={s.state}>
                    <td className="mono">{s.source}</td>
                    <td><span className={`state ${s.state === "ok" ? "live" : s.state === "failed" ? "silent" : "dim"}`}><span aria-hidden="true">{kSourceMarks[s.state] ?? "○"} </span>{code("node.source", s.state)}</span></td>
                    <td className="wrap"><Why reason={s.reason} /></td>
                  </tr>
                );
              })}
            </tbody>
          </table>
          <div className="line dim">{t("node.sources.note")}</div>
        </>
      )}
    </section>
  );
}

/** Domains whose rows make the total; a whole-machine meter contains them. */
const kComponents = ["gpu", "cpu_package", "dram"];
/** Is part of the node's total. */
const inTotal = (all: readonly Device[], d: Device): boolean => kComponents.includes(d.domain) || !all.some((other) => kComponents.includes(other.domain));
const place = (d: Device): number => (kComponents.indexOf(d.domain) + kComponents.length + 1) % (kComponents.length + 1);

function Devices({ n, c }: { n: NodeDetail; c: PowerCurves | undefined }): JSX.Element {
  const { t, code } = useWords();
  const [unit, div] = pickFor(kEnergy, n.devices.map((d) => d.energy_kwh));
  const ranges = useMemo(() => {
    const out = new Map<string, string>();
    for (const s of c?.series ?? []) {
      if (s.index < 0 || s.points.length === 0) continue;
      out.set(`${s.domain}/${s.index}`, `${number(Math.min(...s.points.map((p) => p[2])))}–${number(Math.max(...s.points.map((p) => p[3])))}`);
    }
    return out;
  }, [c]);
  const colour = (d: Device): string => (d.domain === "gpu" ? `dev${d.index % 8}` : "");
  const added = (d: Device): boolean => inTotal(n.devices, d);
  const list = [...n.devices].sort((a, b) => place(a) - place(b) || a.index - b.index);
  const sum = n.devices.filter(added).reduce((s, d) => s + (microjoules(d.energy_uj) ?? 0n), 0n);
  const adds = n.energy_uj !== null && sum.toString() === n.energy_uj;
  return (
    <section className="card span12">
      <div className="card-head"><h2>{t("node.devices")}</h2><SimBadge quality={n.simulated ? "simulated" : ""} />{!n.partial_view && <span className="dim">{t("dash.devices_known", { known: n.devices_known, total: n.devices_total })}</span>}</div>
      {n.partial_view && <div className="line dim">{t("node.team_view")}</div>}
      {n.devices.length === 0 ? n.partial_view ? null : <div className="line dim">{t("node.no_devices")}</div> : (
        <div className="scroll-x">
          <table className="table wide">
            <thead><tr>
              <th scope="col">{t("col.device")}</th><th scope="col" className="opt">{t("col.uuid")}</th><th scope="col">{t("col.holders")}</th>
              <th scope="col" className="r">{t("col.now")}</th><th scope="col" className="r">{t("col.minmax")}</th><th scope="col" className="r">{t("col.limit")}</th>
              <th scope="col" className="r">{t("col.energy", { unit })}</th><th scope="col" className="r">{t("col.coverage")}</th><th scope="col">{t("col.method")}</th>
              <th scope="col" className="r">{t("col.util")}</th><th scope="col" className="r">{t("col.memory")}</th><th scope="col" className="r">{t("col.temp")}</th>
            </tr></thead>
            <tbody>
              {list.map((d) => {
                const own = ownReason(d.reason) ?? plainReason(d.reason);
                const why = own ? t(own) : d.reason ?? t("unknown.no_reading");
                const not = t("unknown.not_reported");
                return (
                  <tr key={`${d.domain}/${d.index}`} data-row={`${d.domain}/${d.index}`} data-device={d.index}>
                    <td className="name"><span className={`glyph ${colour(d)}`} aria-hidden="true">{d.domain === "gpu" ? glyphOf({ kind: "device", index: d.index }) : ""}</span> {d.domain === "platform" ? t("node.platform.row", { i: d.index }) : deviceName(t, d)} <span className="dim">{added(d) ? (d.model ?? "") : t("ev.not_in_total")}</span></td>
                    <td className="clip mono opt" title={d.uuid ?? undefined}>{d.uuid ?? <Unknown reason={not} />}</td>
                    <td className="clip">{d.holders.length === 0 ? <Unknown reason={t("unknown.no_holder")} /> : d.holders.map((h, i) => <span key={h.task_id}>{i > 0 && ", "}<Link to={hrefTo(`/tasks/${encodeURIComponent(h.task_id)}`)}>{h.task_id}</Link>{known(h.compute_share) !== null && <span className="dim"> ≈ {percent(h.compute_share)}</span>}</span>)}</td>
                    <td className="r"><Value text={number(d.power_watts)} reason={why} /></td>
                    <td className="r num">{ranges.get(`${d.domain}/${d.index}`) ?? <Unknown reason={t("unknown.no_data")} />}</td>
                    <td className="r"><Value text={number(d.power_limit_watts)} reason={not} /></td>
                    <td className="r"><Value text={number(known(d.energy_kwh) === null ? null : (d.energy_kwh ?? 0) / div)} reason={t("unknown.no_data")} /></td>
                    <td className={coverageIsLow(d.coverage) ? "r warn-text" : "r"}><Value text={coverage(d.coverage, d.gap_seconds, d.partial_seconds)} reason={t("unknown.no_data")} />{coverageIsLow(d.coverage) && <span aria-hidden="true"> ▲</span>}</td>
                    <td className="clip">{d.method ? code("method", d.method) : <Unknown reason={why} />}{d.reason && <span className="dim"> <Why reason={d.reason} /></span>}</td>
                    <td className="r"><Value text={percent(d.util)} reason={not} /></td>
                    <td className="r"><Value text={bytes(d.memory_used_bytes)} reason={not} /></td>
                    <td className="r"><Value text={published(d.temperature_c)} reason={not} /></td>
                  </tr>
                );
              })}
              <tr className="total"><td className="name" colSpan={6}><strong>{t("node.sum_devices")}</strong> {adds && <span className="dim plain">{t("task.where.match")}</span>}</td>
                <td className="r"><Value text={number(known(n.energy_kwh) === null ? null : (n.energy_kwh ?? 0) / div)} reason={t("unknown.no_data")} /></td>
                <td className="r"><Value text={coverage(n.coverage, n.gap_seconds, n.partial_seconds)} reason={t("unknown.no_data")} /></td><td colSpan={4} /></tr>
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

