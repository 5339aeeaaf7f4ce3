import { useMemo, useRef, useState } from "react";
import { useTasks } from "../api/queries";
import type { TaskList, TaskRow } from "../api/types";
import { usePrefs } from "../app/prefs";
import { hrefTo, Link, useQueryValue } from "../app/router";
import { useRange } from "../app/Shell";
import { count, coverage, coverageIsLow, gasName, kEnergy, kMass, known, kwh, kwhOf, microjoules, number, pickFor, sumMicrojoules } from "../format/number";
import { useWords } from "../i18n";
import { AttributionBadge, SimBadge } from "../ui/Badges";
import { EvidenceButton } from "../ui/Evidence";
import { FactorLine } from "../ui/FactorLine";
import { keepOrder, sorted, type Key } from "../ui/sort";
import { SortHead } from "../ui/SortHead";
import { Empty, ErrorBox, Skeleton } from "../ui/States";
import { useVirtual } from "../ui/useVirtual";
import { Unknown, Value } from "../ui/Value";
import { oneMoment, tally } from "./tally";

const idOf = (x: TaskRow): string => `${x.cluster}/${x.task_id}`;

function keyOf(x: TaskRow, by: string): Key {
  switch (by) {
    case "task_id": return x.task_id;
    case "team": return x.team;
    case "kind": return x.kind;
    case "state": return x.state;
    case "coverage": return x.coverage;
    case "attribution": return x.attribution;
    case "tokens": return x.tokens_per_joule;
    case "nodes": return x.nodes[0];
    default: return microjoules(x.energy_uj);
  }
}

export function Tasks(): JSX.Element {
  const { t, code, range: span } = useWords();
  const range = useRange();
  const { live } = usePrefs();
  const [q] = useQueryValue("q");
  const [team, setTeam] = useQueryValue("team");
  const [sort, setSort] = useQueryValue("sort", "-energy_kwh");
  const list = useTasks({ range, q, sort, team, every: live ? 30_000 : false });
  const [inside, setInside] = useState(false);
  const order = useRef<string[]>([]);
  const teams = useRef(new Set<string>());
  const rows = useMemo(() => {
    const all = list.data?.pages.flatMap((p) => p.tasks) ?? [];
    const complete = list.data?.pages.at(-1)?.next_cursor === null;
    return complete ? sorted(all, (x) => keyOf(x, sort.replace(/^-/, "")), sort.startsWith("-")) : all;
  }, [list.data, sort]);
  for (const r of rows) if (r.team) teams.current.add(r.team);
  const asked = `${sort} ${q} ${team} ${range}`;
  const lastAsked = useRef(asked);
  const steady = inside && lastAsked.current === asked ? keepOrder(rows, idOf, order.current) : rows;
  lastAsked.current = asked;
  order.current = steady.map(idOf);

  if (list.isPending) return <div className="sheet"><Skeleton lines={24} /></div>;
  if (list.isError && !list.data) return <ErrorBox error={list.error} what={t("what.tasks")} retry={() => void list.refetch()} />;
  const head = list.data.pages[0];
  if (!head) return <Empty>{t("state.no_tasks")}</Empty>;
  return (
    <div className="sheet">
      <div className="toolbar">
        <h1>{t("tasks.title")}</h1><span>{t("tasks.count", { n: head.total })}</span>
        <span className="dim">{t("total.hours", { range: span(head.from, head.to) })}</span>
        <span className="grow" />
        <label className="check">{t("col.team")}
          <select value={team} onChange={(e) => setTeam(e.target.value)}>
            <option value="">{t("tasks.team.all")}</option>
            {[...teams.current].sort().map((x) => <option key={x} value={x}>{x}</option>)}
          </select>
        </label>
      </div>
      {list.isError && <ErrorBox error={list.error} what={t("what.tasks")} retry={() => void list.refetch()} />}
      {steady.length === 0 && <Empty>{q === "" && team === "" ? t("state.no_tasks") : q === "" ? t("tasks.none.team", { team }) : t("state.no_match", { q })}</Empty>}
      <div onPointerEnter={() => setInside(true)} onPointerLeave={() => setInside(false)}>
        <TaskTable rows={steady} head={head} complete={!list.hasNextPage} comparable={oneMoment(list.data.pages)} filtered={q !== "" || team !== ""} sort={sort} onSort={(s) => setSort(s)} />
      </div>
      {list.hasNextPage && <div className="more"><span className="dim">{t("nodes.shown", { n: count(rows.length), total: count(head.total) })}</span><button type="button" className="button" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>{t("nodes.more", { n: 200 })}</button></div>}
      <div className="foot-notes dim">
        {head.carbon_hidden_reason && <p>{code("reason", head.carbon_hidden_reason)}</p>}
        {head.emission_factor && <FactorLine factor={head.emission_factor} />}
      </div>
    </div>
  );
}

interface TableProps { rows: TaskRow[]; head: TaskList; complete: boolean; comparable: boolean; filtered: boolean; sort: string; onSort: (s: string) => void }

function TaskTable({ rows, head, complete, comparable, filtered, sort, onSort }: TableProps): JSX.Element {
  const { t, duration, code } = useWords();
  const body = useRef<HTMLTableSectionElement>(null);
  const shown = useVirtual(body, rows.length, 28);
  const [unit, div] = pickFor(kEnergy, [...rows.map((r) => r.energy_kwh), head.sum.energy_kwh]);
  // A team is not told what other tasks used.
  const loose = head.unattributed;
  const showCarbon = rows.some((r) => r.carbon_kgco2e !== undefined);
  const sums = tally({ rows: rows.map((r) => r.energy_uj), unattributed: head.unattributed?.energy_uj ?? null, sum: head.sum.energy_uj, complete, comparable });
  const factor = rows.map((r) => (known(r.carbon_kgco2e) !== null && r.energy_kwh ? (r.carbon_kgco2e ?? 0) / r.energy_kwh : null)).find((x) => x !== null) ?? null;
  const carbonOf = (uj: bigint | null): number | null => (uj === null || factor === null ? null : (kwhOf(uj) ?? 0) * factor);
  const [mass, massDiv] = pickFor(kMass, [carbonOf(sums.total), ...rows.map((r) => r.carbon_kgco2e)]);
  const gas = gasName(head.emission_factor?.gas);
  const cell = (v: number | null | undefined, d: number, reason: string): JSX.Element => <Value text={number(known(v) === null ? null : (v ?? 0) / d)} reason={reason} />;
  const col = (by: string, key: Parameters<typeof t>[0], right = false, u = "", className = ""): JSX.Element => <SortHead by={by} sort={sort} onSort={onSort} label={t(key, { unit: u })} right={right} downFirst={right} className={className}>{t(key, { unit: u })}</SortHead>;
  const foot = (key: string, name: JSX.Element, uj: bigint | null, className: string, data: Record<string, string> = {}): JSX.Element => (
    <tr key={key} className={className} {...data}>
      <td className="name" colSpan={4}>{name}</td>
      <td className="r">{cell(kwhOf(uj), div, t("unknown.no_data"))}</td>
      {showCarbon && <td className="r">{cell(carbonOf(uj), massDiv, t("unknown.carbon"))}</td>}
      <td colSpan={4} />
    </tr>
  );
  return (
    <>
      <table className="table wide tasks">
        <thead><tr>
          {col("task_id", "col.task")}{col("team", "col.team")}{col("kind", "col.kind", false, "", "opt")}{col("state", "col.state", false, "", "opt")}
          {col("energy_kwh", "col.energy", true, unit)}{showCarbon && <th scope="col" className="r">{t("col.carbon", { unit: `${mass}\u00a0${gas}` })}</th>}
          {col("coverage", "col.coverage", true)}{col("attribution", "col.attribution")}{col("tokens", "col.tokens", true, "", "opt")}{col("nodes", "col.nodes", false, "", "opt")}
        </tr></thead>
        <tbody ref={body}>
          {shown.before > 0 && <tr aria-hidden="true"><td colSpan={10} className="spacer" style={{ height: shown.before }} /></tr>}
          {rows.slice(shown.first, shown.last).map((r) => (
            <tr key={idOf(r)} data-row={r.task_id} data-uj={r.energy_uj ?? ""}>
              <td className="name" title={r.task_id}><span className="named"><Link to={hrefTo(`/tasks/${encodeURIComponent(r.task_id)}`, { cluster: r.cluster === "default" ? "" : r.cluster })}>{r.task_id}</Link><SimBadge quality={r.simulated ? "simulated" : ""} /></span></td>
              <td>{r.team ? r.team : <Unknown reason={t("unknown.not_reported")} />}</td>
              <td className="opt">{r.kind ? code("tasks.kind", r.kind) : <Unknown reason={t("unknown.not_reported")} />}</td>
              <td className="opt"><span className={`state ${r.state === "running" ? "live" : "dim"}`}><span aria-hidden="true">{r.state === "running" ? "● " : r.state === "finished" ? "✓ " : "? "}</span>{code("tasks.state", r.state)}</span></td>
              <td className="r"><EvidenceButton of={{ kind: "energy", scope: "task", id: r.task_id }}>{cell(r.energy_kwh, div, t("unknown.no_data"))}</EvidenceButton></td>
              {showCarbon && <td className="r">{cell(r.carbon_kgco2e, massDiv, t("unknown.carbon"))}</td>}
              <td className={coverageIsLow(r.coverage) ? "r warn-text" : "r"} title={coverageIsLow(r.coverage) ? t("coverage.low", { c: coverage(r.coverage, r.gap_seconds, r.partial_seconds), gap: duration(r.gap_seconds) }) : undefined}><Value text={coverage(r.coverage, r.gap_seconds, r.partial_seconds)} reason={t("unknown.no_data")} />{coverageIsLow(r.coverage) && <span aria-hidden="true"> ▲</span>}</td>
              <td><AttributionBadge value={r.attribution} /></td>
              <td className="r opt"><Value text={number(r.tokens_per_joule)} reason={r.tokens_reason ? code("reason", r.tokens_reason) : t("task.tokens.na")} /></td>
              <td className="opt clip" title={r.nodes.join(", ")}>{r.nodes.join(", ")} <span className="dim">×{count(r.devices)}</span></td>
            </tr>
          ))}
          {shown.after > 0 && <tr aria-hidden="true"><td colSpan={10} className="spacer" style={{ height: shown.after }} /></tr>}
        </tbody>
        <tfoot>
          {!complete && foot("~rest", <span className="dim">{t("tasks.other_pages")}</span>, sums.rest, "rest")}
          {loose && foot("~un", <span title={t("tasks.unattributed.note")}>{t("tasks.unattributed")}</span>, microjoules(loose.energy_uj), "unattributed", { "data-unattributed": loose.energy_uj ?? "" })}
          {foot("~sum", <strong>{t(loose ? "tasks.sum" : "tasks.sum_tenant")}</strong>, sums.total, "total", { "data-total": sums.total?.toString() ?? "" })}
        </tfoot>
      </table>
      <div className="foot-notes dim">
        {rows.some((r) => coverageIsLow(r.coverage)) && <p data-note="coverage">▲ {t("coverage.low", { c: lowSpan(rows), gap: duration(rows.reduce((s, r) => s + (known(r.gap_seconds) ?? 0), 0)) })}</p>}
        <p>{t(loose ? "tasks.unattributed.note" : "tasks.unattributed.hidden")}</p>
        {loose && filtered && <p>{t("tasks.filtered")}</p>}
      </div>
      {sums.mismatch && <div className="message bad">▲ {t("tasks.mismatch", { s: kwh(head.sum.energy_kwh, 6), r: kwh(kwhOf(sumMicrojoules(rows.map((r) => r.energy_uj ?? "0"))), 6) })}</div>}
    </>
  );
}

function lowSpan(rows: readonly TaskRow[]): string {
  const low = rows.filter((r) => coverageIsLow(r.coverage)).map((r) => r.coverage ?? 0);
  const lo = coverage(Math.min(...low), 1);
  const hi = coverage(Math.max(...low), 1);
  return lo === hi ? lo : `${lo}–${hi}`;
}
