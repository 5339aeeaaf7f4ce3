import { useMemo, useRef, useState } from "react";
import { useNodes } from "../api/queries";
import { useLive } from "../api/stream";
import type { NodeRow } from "../api/types";
import { usePrefs } from "../app/prefs";
import { hrefToNode, Link, useQueryValue } from "../app/router";
import { useRange } from "../app/Shell";
import { count, coverage, coverageIsLow, kEnergy, known, kUnknown, kWatts, kwh, kwhOf, number, pickFor, sumMicrojoules, watts } from "../format/number";
import { useWords } from "../i18n";
import { ReplayBadge, SimBadge } from "../ui/Badges";
import { EvidenceButton } from "../ui/Evidence";
import { keepOrder, sorted, type Key } from "../ui/sort";
import { SortHead } from "../ui/SortHead";
import { Sparkline } from "../ui/Sparkline";
import { Empty, ErrorBox, NoNodes, Skeleton } from "../ui/States";
import { useVirtual } from "../ui/useVirtual";
import { Unknown, Value } from "../ui/Value";

const idOf = (n: NodeRow): string => `${n.cluster}/${n.node_id}`;

function keyOf(n: NodeRow, by: string): Key {
  switch (by) {
    case "node_id": return n.node_id;
    case "zone": return n.zone;
    case "state": return n.state;
    case "power_watts": return n.power_watts;
    case "platform": return n.platform_power_watts;
    case "coverage": return n.coverage;
    case "devices": return n.devices_known;
    case "source": return n.sources[0];
    default: return n.energy_kwh;
  }
}

export function Nodes(): JSX.Element {
  const { t, range: span } = useWords();
  const range = useRange();
  const { live } = usePrefs();
  const [q] = useQueryValue("q");
  const [state, setState] = useQueryValue("state");
  const [sort, setSort] = useQueryValue("sort", "node_id");
  const [low, setLow] = useQueryValue("low");
  const list = useNodes({ range, q, sort, state, every: live ? 30_000 : false });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [inside, setInside] = useState(false);
  const order = useRef<string[]>([]);

  const rows = useMemo(() => {
    const all = list.data?.pages.flatMap((p) => p.nodes) ?? [];
    const complete = list.data?.pages.at(-1)?.next_cursor === null;
    const filtered = low === "1" ? all.filter((n) => coverageIsLow(n.coverage)) : all;
    return complete ? sorted(filtered, (n) => keyOf(n, sort.replace(/^-/, "")), sort.startsWith("-")) : filtered;
  }, [list.data, sort, low]);
  const asked = `${sort} ${q} ${state} ${low} ${range}`;
  const lastAsked = useRef(asked);
  // A refresh never moves a row from under the pointer; a click on a header does.
  const steady = inside && lastAsked.current === asked ? keepOrder(rows, idOf, order.current) : rows;
  lastAsked.current = asked;
  order.current = steady.map(idOf);

  if (list.isPending) return <div className="sheet"><Skeleton lines={24} /></div>;
  if (list.isError && !list.data) return <ErrorBox error={list.error} what={t("what.nodes")} retry={() => void list.refetch()} />;
  const head = list.data.pages[0];
  const total = head?.total ?? 0;
  return (
    <div className="sheet">
      <div className="toolbar">
        <h1>{t("nodes.title")}</h1>
        <span>{t("nodes.count", { n: total })}</span>
        {head && <span className="dim opt">{t("total.hours", { range: span(head.from, head.to) })}</span>}
        {head?.nodes.some((n) => n.partial_view) ? <span className="dim">{t("dash.team_view")}</span> : <span className="dim">{t("nodes.known_power", { w: watts(head?.power_known_watts) })}</span>}
        <span className="grow" />
        <div className="segments" role="group" aria-label={t("col.state")}>
          {(["", "live", "silent"] as const).map((s) => <button key={s} type="button" aria-pressed={state === s} onClick={() => setState(s)}>{t(s === "" ? "nodes.state.all" : `nodes.state.${s}`)}</button>)}
        </div>
        <label className="check"><input type="checkbox" checked={low === "1"} onChange={(e) => setLow(e.target.checked ? "1" : "")} />{t("nodes.low_only")}</label>
      </div>
      {list.isError && <ErrorBox error={list.error} what={t("what.nodes")} retry={() => void list.refetch()} />}
      {total === 0 && q === "" && state === "" ? <NoNodes /> : steady.length === 0 ? <Empty>{q !== "" ? t("state.no_match", { q }) : t(low === "1" ? "nodes.none.low" : state === "live" ? "nodes.none.live" : "nodes.none.silent")}</Empty> : (
        <div onPointerEnter={() => setInside(true)} onPointerLeave={() => setInside(false)}>
          <NodeTable rows={steady} sort={sort} onSort={(s) => setSort(s)} chosen={chosen} choose={setChosen} />
        </div>
      )}
      {list.hasNextPage && (
        <div className="more"><span className="dim">{t("nodes.shown", { n: count(list.data.pages.reduce((s, p) => s + p.nodes.length, 0)), total: count(total) })}</span>
          <button type="button" className="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>{t("nodes.more", { n: 200 })}</button></div>
      )}
      {chosen.size > 0 && <Selection rows={steady.filter((n) => chosen.has(idOf(n)))} clear={() => setChosen(new Set())} />}
    </div>
  );
}

interface TableProps { rows: NodeRow[]; sort: string; onSort: (s: string) => void; chosen: ReadonlySet<string>; choose: (s: ReadonlySet<string>) => void }

function NodeTable({ rows, sort, onSort, chosen, choose }: TableProps): JSX.Element {
  const { t, duration, short, time } = useWords();
  const live = useLive();
  const body = useRef<HTMLTableSectionElement>(null);
  const shown = useVirtual(body, rows.length, 28);
  const [pUnit, pDiv] = pickFor(kWatts, rows.map((n) => n.power_watts));
  const [eUnit, eDiv] = pickFor(kEnergy, rows.map((n) => n.energy_kwh));
  const platform = rows.some((n) => known(n.platform_power_watts) !== null);
  const trendMax = Math.max(0, ...rows.flatMap((n) => n.trend.map((p) => known(p.power_watts) ?? 0)));
  const head = (by: string, key: Parameters<typeof t>[0], right = false, unit = "", className = ""): JSX.Element => (
    <SortHead by={by} sort={sort} onSort={onSort} label={t(key, { unit })} right={right} downFirst={right} className={className}>{t(key, { unit })}</SortHead>
  );
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (next.has(id)) next.delete(id);
    else next.add(id);
    choose(next);
  };
  return (
    <>
      <table className={`table wide nodes ${live.stale ? "stale" : ""}`}>
        <thead>
          <tr>
            <th scope="col" className="tick"><input type="checkbox" aria-label={t("nodes.select", { id: t("nodes.state.all") })} checked={chosen.size > 0 && rows.every((n) => chosen.has(idOf(n)))} onChange={(e) => choose(e.target.checked ? new Set(rows.map(idOf)) : new Set())} /></th>
            {head("node_id", "col.node")}
            {head("zone", "col.zone", false, "", "opt")}
            {head("state", "col.state")}
            {head("power_watts", "col.power", true, pUnit)}
            {platform && head("platform", "col.platform", true, pUnit, "opt")}
            <th scope="col" className="opt">{t("col.trend")}</th>
            {head("energy_kwh", "col.energy", true, eUnit)}
            {head("coverage", "col.coverage", true)}
            {head("devices", "col.devices", true, "", "opt")}
            {head("source", "col.source", false, "", "opt")}
            <th scope="col" className="opt">{t("col.note")}</th>
          </tr>
        </thead>
        <tbody ref={body}>
          {shown.before > 0 && <tr aria-hidden="true"><td colSpan={12} className="spacer" style={{ height: shown.before }} /></tr>}
          {rows.slice(shown.first, shown.last).map((n) => {
            const id = idOf(n);
            const why = n.partial_view ? t("unknown.team_view") : n.state === "silent" ? t("unknown.silent", { age: duration(n.silent_seconds) }) : t("unknown.no_reading");
            const offset = known(n.clock_offset_seconds);
            return (
              <tr key={id} data-row={n.node_id} className={chosen.has(id) ? "chosen" : ""}>
                <td className="tick"><input type="checkbox" aria-label={t("nodes.select", { id: n.node_id })} checked={chosen.has(id)} onChange={() => toggle(id)} /></td>
                <td className="name"><Link to={hrefToNode(n.node_id, n.cluster)}>{n.node_id}</Link> <SimBadge quality={n.simulated ? "simulated" : ""} /> <ReplayBadge of={n} /></td>
                <td className="opt">{n.zone ? n.zone : <Unknown reason={t("unknown.not_reported")} />}</td>
                <td>{n.state === "live" ? <span className="state live"><span aria-hidden="true">● </span>{t("nodes.state.live")}</span> : <span className="state silent"><span aria-hidden="true">◌ </span>{t("nodes.silent_for", { age: short(n.silent_seconds) })}</span>}</td>
                <td className="r" title={n.last_sample_at ? t("nodes.last_value", { time: time(n.last_sample_at, true) }) : undefined}>
                  <Value text={number(known(n.power_watts) === null ? null : (n.power_watts ?? 0) / pDiv)} reason={why} />
                </td>
                {platform && <td className="r opt">{known(n.platform_power_watts) === null ? <Unknown reason={n.partial_view ? why : t("unknown.no_reading")} /> : <span className="num">{number((n.platform_power_watts ?? 0) / pDiv)}</span>}</td>}
                <td className="opt trend">{n.partial_view ? <Unknown reason={why} /> : <Sparkline values={n.trend.map((p) => p.power_watts)} max={trendMax} />}</td>
                <td className="r"><EvidenceButton of={{ kind: "energy", scope: "node", id: n.node_id }}><Value text={number(known(n.energy_kwh) === null ? null : (n.energy_kwh ?? 0) / eDiv)} reason={t("unknown.no_data")} /></EvidenceButton></td>
                <td className={coverageIsLow(n.coverage) ? "r warn-text" : "r"} title={coverageIsLow(n.coverage) ? t("coverage.low", { c: coverage(n.coverage, n.gap_seconds, n.partial_seconds), gap: duration(n.gap_seconds) }) : undefined}>
                  <Value text={coverage(n.coverage, n.gap_seconds, n.partial_seconds)} reason={t("unknown.no_data")} />{coverageIsLow(n.coverage) && <span aria-hidden="true"> ▲</span>}
                </td>
                <td className="r num opt">{n.partial_view ? <Unknown reason={why} /> : `${count(n.devices_known)}/${count(n.devices_total)}`}</td>
                <td className="opt clip" title={n.sources.join(", ")}>{n.sources.join(", ")}</td>
                <td className="opt clip">
                  {known(n.gap_seconds) !== null && (n.gap_seconds ?? 0) > 0 && <span className="badge dim">{t("badge.gap", { d: short(n.gap_seconds) })}</span>}
                  {offset !== null && Math.abs(offset) >= 1 && <> <span className="badge warn">{t(offset > 0 ? "nodes.clock" : "nodes.clock_behind", { d: duration(Math.abs(offset)) })}</span></>}
                </td>
              </tr>
            );
          })}
          {shown.after > 0 && <tr aria-hidden="true"><td colSpan={12} className="spacer" style={{ height: shown.after }} /></tr>}
        </tbody>
      </table>
      <div className="foot-notes dim">
        {rows.some((n) => coverageIsLow(n.coverage)) && <p data-note="coverage">▲ {t("coverage.low", { c: span(rows.filter((n) => coverageIsLow(n.coverage))), gap: duration(rows.reduce((s, n) => s + (known(n.gap_seconds) ?? 0), 0)) })}</p>}
        {platform && <p>{t("nodes.platform_note")}</p>}
      </div>
    </>
  );
}

/** Coverage from the lowest to the highest row: a mean of percentages would say nothing. */
function span(rows: readonly NodeRow[]): string {
  const all = sorted(rows.filter((n) => known(n.coverage) !== null), (n) => n.coverage, false);
  const lo = coverage(all[0]?.coverage, all[0]?.gap_seconds, all[0]?.partial_seconds);
  const hi = coverage(all.at(-1)?.coverage, all.at(-1)?.gap_seconds, all.at(-1)?.partial_seconds);
  return lo === hi ? lo : `${lo}–${hi}`;
}

function Selection({ rows, clear }: { rows: NodeRow[]; clear: () => void }): JSX.Element {
  const { t } = useWords();
  const exact = sumMicrojoules(rows.filter((n) => n.energy_uj !== null).map((n) => n.energy_uj));
  const anyPower = rows.some((n) => known(n.power_watts) !== null);
  const power = anyPower ? rows.reduce((s, n) => s + (known(n.power_watts) ?? 0), 0) : null;
  return (
    <div className="selection" role="status">
      <span>{t("nodes.selected", { n: rows.length, e: exact === null || rows.every((n) => n.energy_uj === null) ? kUnknown : kwh(kwhOf(exact)), p: watts(power), c: span(rows) })}</span>
      <button type="button" className="button small" onClick={clear}>{t("nodes.clear")}</button>
    </div>
  );
}
