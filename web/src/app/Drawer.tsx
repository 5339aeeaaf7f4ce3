/** The evidence drawer: how a figure came to be, down to the microjoule. */
import { useEffect, useRef, useState, type ReactNode } from "react";
import { apiPath } from "../api/client";
import { useDashboard, useEnergy, useNode, useSession } from "../api/queries";
import type { Energy } from "../api/types";
import { carbon, count, coverage, exactMicrojoules, factor, gasName, known, kUnknown, kwh, microjoules, percent, sumMicrojoules, watts } from "../format/number";
import { isoText } from "../format/time";
import { useWords, type MessageKey } from "../i18n";
import { SimBadge } from "../ui/Badges";
import { parseDrawer, type EvidenceRef } from "../ui/Evidence";
import { Icon } from "../ui/Icon";
import { amount, missing, noteText, unitText } from "../ui/Notes";
import { ErrorBox, Skeleton } from "../ui/States";
import { Unknown } from "../ui/Value";
import { Why } from "../ui/Why";
import { useQueryValue } from "./router";

export function EvidenceDrawer({ range, cluster }: { range: string; cluster: string }): JSX.Element | null {
  const [value, setValue] = useQueryValue("drawer");
  const ref = parseDrawer(value);
  if (!ref) return null;
  return <Panel key={value} of={ref} range={range} cluster={cluster} close={() => setValue("")} />;
}

function Panel({ of, range, cluster, close }: { of: EvidenceRef; range: string; cluster: string; close: () => void }): JSX.Element {
  const { t } = useWords();
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    first.current?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const title: MessageKey = `ev.${of.kind}`;
  const scope: MessageKey = `word.${of.scope}`;
  return (
    <aside className="drawer" role="dialog" aria-label={t("ev.title")} data-drawer={of.kind}>
      <header>
        <div>
          <div className="dim">{t("ev.title")} · {t(scope)}{of.scope === "cluster" ? "" : ` ${of.id}`}</div>
          <h2>{t(title)}</h2>
        </div>
        <button ref={first} type="button" className="icon-button" onClick={close} aria-label={t("ev.close")}><Icon name="close" /></button>
      </header>
      {of.kind === "power" ? <PowerEvidence of={of} range={range} cluster={cluster} /> : <EnergyEvidence of={of} range={range} cluster={cluster} />}
    </aside>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }): JSX.Element {
  return <section><h3>{title}</h3>{children}</section>;
}

function Row({ name, children, title }: { name: ReactNode; children: ReactNode; title?: string }): JSX.Element {
  return <div className="kv" title={title}><span>{name}</span><span className="num">{children}</span></div>;
}

function EnergyEvidence({ of, range, cluster }: { of: EvidenceRef; range: string; cluster: string }): JSX.Element {
  const { t } = useWords();
  const dashboard = useDashboard(range, false);
  const single = useEnergy(of.scope === "task" ? "task" : "node", of.id, cluster, range, false, of.scope !== "cluster");
  const query = of.scope === "cluster" ? dashboard : single;
  const energy = of.scope === "cluster" ? dashboard.data?.energy_summary : single.data;
  const path = of.scope === "cluster" ? apiPath("/dashboard/stats", { range }) : apiPath(`/${of.scope}s/${encodeURIComponent(of.id)}/energy`, { range, cluster });
  if (query.isPending) return <Skeleton lines={10} />;
  if (query.isError) return <ErrorBox error={query.error} what={t("what.evidence")} retry={() => void query.refetch()} />;
  if (!energy) return <div className="message empty">{t("dash.no_accounts")}</div>;
  return <EnergyBody e={energy} of={of} path={path} />;
}

function EnergyBody({ e, of, path }: { e: Energy; of: EvidenceRef; path: string }): JSX.Element {
  const w = useWords();
  const { t, range, time } = w;
  // Of a cluster or a team the seconds of many things add up: the text says whose they are.
  const duration = (s: number | null): string => amount(e.scope, s, w);
  const exact = sumMicrojoules([e.method?.counter_uj, e.method?.integrated_uj]);
  const total = microjoules(e.energy_uj);
  const diff = exact !== null && total !== null ? total - exact : null;
  const f = e.emission_factor;
  const mix = known(e.energy_kwh) !== null && e.energy_kwh && e.method ? known(e.method.counter_kwh / e.energy_kwh) : null;
  const noData = t("unknown.no_data");
  const head = of.kind === "carbon" ? (e.carbon_hidden_reason ? null : carbon(e.carbon_kgco2e, f?.gas)) : of.kind === "coverage" ? coverage(e.coverage, e.gap_seconds, e.partial_seconds) : kwh(e.energy_kwh);
  const ledger = apiPath("/energy/accounts", e.scope === "cluster" || e.scope === "team" ? { scope: e.scope === "team" ? "task" : "node" } : { scope: e.scope, id: e.id });
  return (
    <div className="drawer-body">
      <div className="drawer-figure">{head === null ? <span className="dim small">{w.code("reason", e.carbon_hidden_reason)}</span> : head === kUnknown ? <Unknown reason={noData} /> : head} <SimBadge quality={e.quality} /></div>
      <div className="dim">{t("total.hours", { range: range(e.from, e.to) })}</div>

      <Section title={t("ev.formula")}>
        {of.kind === "carbon" && !e.carbon_hidden_reason && f && (
          <p className="formula">{kwh(e.energy_kwh, 4)} × {factor(f.value)} {unitText(f.unit)} = {carbon(e.carbon_kgco2e, f.gas, 4)}</p>
        )}
        {of.kind === "coverage" && <p className="formula">{duration(e.covered_seconds)} ÷ ({duration(e.covered_seconds)} + {duration(e.gap_seconds)}) = {coverage(e.coverage, e.gap_seconds, e.partial_seconds)}</p>}
        <p className="formula">{t("word.counter")} {kwh(e.method?.counter_kwh, 4)} + {t("word.integrated")} {kwh(e.method?.integrated_kwh, 4)} = {kwh(e.energy_kwh, 4)}</p>
        {diff !== null && <p className={diff === 0n ? "dim" : "bad-text"}>{diff === 0n ? `✓ ${t("ev.sum_ok")}` : `▲ ${t("ev.sum_bad", { d: exactMicrojoules(diff) })}`}</p>}
        <Row name={t("ev.exact")}>{e.energy_uj === null ? <Unknown reason={noData} /> : exactMicrojoules(e.energy_uj)}</Row>
      </Section>

      <Section title={t("ev.method")}>
        {mix !== null && (
          <div className="mix" role="img" aria-label={`${t("word.counter")} ${percent(mix)}, ${t("word.integrated")} ${percent(1 - mix)}`}>
            <span className="mix-a" style={{ width: `${mix * 100}%` }} /><span className="mix-b" style={{ width: `${(1 - mix) * 100}%` }} />
          </div>
        )}
        <Row name={<><i className="key a" /> {t("word.counter")}</>}>{kwh(e.method?.counter_kwh)} · {percent(mix)}</Row>
        <Row name={<><i className="key b" /> {t("word.integrated")}</>}>{kwh(e.method?.integrated_kwh)} · {percent(mix === null ? null : 1 - mix)}</Row>
        <Row name={t("ev.quality")}>{e.quality === null ? <Unknown reason={noData} /> : w.code("word", e.quality)}</Row>
        {microjoules(e.simulated_uj) !== null && microjoules(e.simulated_uj) !== 0n && <Row name={t("ev.simulated")}>{exactMicrojoules(e.simulated_uj)}</Row>}
        {microjoules(e.spread_uj) !== null && microjoules(e.spread_uj) !== 0n && <Row name={t("ev.spread")}>{exactMicrojoules(e.spread_uj)}</Row>}
        {microjoules(e.shared_energy_uj) !== null && microjoules(e.shared_energy_uj) !== 0n && <Row name={`≈ ${t("ev.shared")}`}>{kwh(e.shared_energy_kwh)}</Row>}
        {e.unattributed_uj !== undefined && <Row name={t("word.unattributed")} title={t("tasks.unattributed.note")}>{kwh(e.unattributed_kwh)}</Row>}
      </Section>

      <Section title={t("ev.cover")}>
        <Row name={t("word.coverage")}>{e.coverage === null ? <Unknown reason={noData} /> : coverage(e.coverage, e.gap_seconds, e.partial_seconds)}</Row>
        <Row name={t("ev.covered")}>{duration(e.covered_seconds)}</Row>
        <Row name={t("ev.missing")}>{missing(e, w)}</Row>
        <Row name={t("ev.partial")}>{duration(e.partial_seconds)}</Row>
        {(known(e.open_gap_seconds) ?? 0) > 0 && <Row name={t("ev.open")}>{duration(known(e.open_gap_seconds))}</Row>}
        {(known(e.shared_seconds) ?? 0) > 0 && <Row name={t("ev.shared")}>{duration(e.shared_seconds)}</Row>}
      </Section>

      {e.domains.length > 0 && (
        <Section title={t("ev.domains")}>
          {e.domains.map((d) => (
            <Row key={d.domain} name={<><code>{d.domain}</code> <span className="dim">{d.in_total ? t("ev.in_total") : t("ev.not_in_total")}</span></>}>
              {known(d.energy_kwh) === null ? <Unknown reason={noData} /> : kwh(d.energy_kwh)} · {t("word.coverage")} {coverage(d.coverage, d.gap_seconds, d.partial_seconds)}
            </Row>
          ))}
        </Section>
      )}

      <Section title={t("ev.factor")}>
        {e.carbon_hidden_reason ? <p>{w.code("reason", e.carbon_hidden_reason)}</p> : f ? (
          <>
            <Row name={t("ev.value")}>{factor(f.value)} {unitText(f.unit)}</Row>
            <Row name={t("ev.source")}>{f.configured ? f.source : t("badge.placeholder")}</Row>
            <Row name={t("ev.gas")}>{gasName(f.gas)}</Row>
            <Row name={t("ev.year")}>{f.year ?? <Unknown reason={t("unknown.not_stated")} />}</Row>
            <Row name={t("ev.kind")}>{t("factor.method")}</Row>
          </>
        ) : <p className="dim">{t("word.none")}</p>}
      </Section>

      <Section title={t("ev.notes")}>
        <ul className="notes">{e.notes.map((n) => <li key={`${n.code}${n.text}`}>{noteText(n, w, e)}</li>)}</ul>
        <Row name={t("ev.rows")}>{count(e.rows)}</Row>
        <Row name={t("ev.samples")} title={`${isoText(e.first_sample_at)} / ${isoText(e.last_sample_at)}`}>{e.first_sample_at === null ? <Unknown reason={noData} /> : time(e.first_sample_at)}{" – "}{e.last_sample_at === null ? <Unknown reason={noData} /> : time(e.last_sample_at)}</Row>
      </Section>
      <Actions json={e} path={path} ledger={ledger} />
    </div>
  );
}

function PowerEvidence({ of, range, cluster }: { of: EvidenceRef; range: string; cluster: string }): JSX.Element {
  return of.scope === "node" ? <NodePower id={of.id} range={range} cluster={cluster} /> : <ClusterPower range={range} />;
}

function ClusterPower({ range }: { range: string }): JSX.Element {
  const w = useWords();
  const { t, time } = w;
  const q = useDashboard(range, false);
  const session = useSession();
  if (q.isPending) return <Skeleton lines={6} />;
  if (q.isError) return <ErrorBox error={q.error} what={t("what.evidence")} retry={() => void q.refetch()} />;
  const p = q.data.power_now;
  return (
    <div className="drawer-body">
      <div className="drawer-figure">{known(p.power_watts) === null ? <Unknown reason={t("unknown.no_reading")} /> : watts(p.power_watts)} <SimBadge quality={session.data?.simulated ? q.data.energy_summary?.quality ?? "simulated" : ""} /></div>
      <Section title={t("ev.formula")}>
        <p className="formula">Σ {t("ev.last_reading")} = {watts(p.power_watts, 4)}</p>
        {session.data?.role === "tenant" ? <p>{t("dash.team_view")}</p> : <Row name={t("ev.devices")}>{t("dash.devices_known", { known: p.devices_known, total: p.devices_total })}</Row>}
        <Row name={t("ev.boundary")}>{w.code("dash.boundary", p.boundary)}</Row>
        <Row name={t("ev.at")} title={isoText(p.at)}>{p.at === null ? <Unknown reason={t("unknown.no_reading")} /> : time(p.at, true)}</Row>
      </Section>
      <Actions json={p} path={apiPath("/dashboard/stats", { range })} ledger={apiPath("/nodes", { range })} />
    </div>
  );
}

function NodePower({ id, range, cluster }: { id: string; range: string; cluster: string }): JSX.Element {
  const w = useWords();
  const { t, time } = w;
  const q = useNode(id, cluster, range, false);
  if (q.isPending) return <Skeleton lines={8} />;
  if (q.isError) return <ErrorBox error={q.error} what={t("what.evidence")} retry={() => void q.refetch()} />;
  const n = q.data;
  return (
    <div className="drawer-body">
      <div className="drawer-figure">{known(n.power_watts) === null ? <Unknown reason={t("unknown.no_reading")} /> : watts(n.power_watts)} <SimBadge quality={n.simulated ? "simulated" : ""} /></div>
      <Section title={t("ev.formula")}>
        <p className="formula">Σ {t("ev.last_reading")} = {watts(n.power_watts, 4)}</p>
        {n.devices.map((d) => (
          <Row key={`${d.domain}${d.index}`} name={<><code>{d.domain} {d.index}</code> <span className="dim">{d.source ?? ""}</span></>}>
            {known(d.power_watts) === null ? <><Unknown reason={w.code("reason", d.reason, d.reason ?? t("unknown.no_reading"))} /> <span className="dim"><Why reason={d.reason} /></span></> : watts(d.power_watts, 4)}
          </Row>
        ))}
        {n.partial_view ? <p>{t("node.team_view")}</p> : <Row name={t("ev.devices")}>{t("dash.devices_known", { known: n.devices_known, total: n.devices_total })}</Row>}
        <Row name={t("ev.boundary")}>{w.code("dash.boundary", n.power_boundary)}</Row>
        <Row name={t("ev.at")} title={isoText(n.last_sample_at)}>{n.last_sample_at === null ? <Unknown reason={t("unknown.no_reading")} /> : time(n.last_sample_at, true)}</Row>
      </Section>
      {known(n.platform_power_watts) !== null && <Section title={t("ev.notes")}><Row name={<><code>platform</code> <span className="dim">{t("ev.not_in_total")}</span></>}>{watts(n.platform_power_watts)}</Row><p>{t("nodes.platform_note")}</p></Section>}
      <Actions json={n} path={apiPath(`/nodes/${encodeURIComponent(id)}`, { range, cluster })} ledger={apiPath("/energy/accounts", { scope: "node", id })} />
    </div>
  );
}

function Actions({ json, path, ledger }: { json: unknown; path: string; ledger: string }): JSX.Element {
  const { t } = useWords();
  const [said, setSaid] = useState("");
  const copy = async (text: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid(t("ev.copied"));
    } catch {
      setSaid(t("ev.copy_failed"));
    }
  };
  const url = window.location.origin + path;
  return (
    <footer className="actions">
      <a className="button small" href={ledger} target="_blank" rel="noreferrer">{t("ev.ledger")}</a>
      <button type="button" className="button small" onClick={() => void copy(JSON.stringify(json, null, 2))}><Icon name="copy" size={14} /> {t("ev.copy_json")}</button>
      <button type="button" className="button small" onClick={() => void copy(`curl -H "Authorization: Bearer $TIDEWATT_TOKEN" "${url}"`)}><Icon name="copy" size={14} /> {t("ev.copy_curl")}</button>
      <span role="status" className="dim">{said}</span>
    </footer>
  );
}
