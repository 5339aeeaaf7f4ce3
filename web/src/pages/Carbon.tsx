/** Zones: the value now and where it comes from, the expected days with their band, and when the grid is clean. */
import { useMemo } from "react";
import { useZoneForecast, useZoneHistory, useZoneLatest, useZones, type CarbonForecast, type ZoneState } from "../api/carbon";
import { Link, hrefTo, useQueryValue } from "../app/router";
import { usePrefs } from "../app/prefs";
import { hourlyMeans, kCiScale } from "../chart/classes";
import { HeatMap } from "../chart/HeatMap";
import { Intensity } from "../chart/Intensity";
import { count, kUnknown, known, number } from "../format/number";
import { useWords } from "../i18n";
import { Empty, ErrorBox, Guard, Skeleton } from "../ui/States";
import { Value } from "../ui/Value";

const kWhy = { "carbon.why.cached_forecast": "carbon.why.cached_forecast", "carbon.why.own_forecast": "carbon.why.own_forecast", "carbon.why.profile": "carbon.why.profile", "carbon.why.off": "carbon.why.off" } as const;
const kSteps = ["latest", "cached_forecast", "own_forecast", "profile", "off"] as const;

export function Carbon(): JSX.Element {
  const { t } = useWords();
  const { live } = usePrefs();
  const zones = useZones(live ? 30_000 : false);
  const [asked, setAsked] = useQueryValue("zone");
  if (zones.isPending) return <div className="grid"><div className="card span12"><Skeleton lines={12} /></div></div>;
  if (zones.isError && !zones.data) return <ErrorBox error={zones.error} what={t("what.zones")} retry={() => void zones.refetch()} />;
  const list = zones.data.zones;
  const here = list.find((z) => z.zone === asked) ?? list[0];
  return (
    <>
      <div className="toolbar page-head"><h1>{t("carbon.title")}</h1><span className="dim">{t("carbon.zones", { n: list.length })}</span></div>
      {!here && <Empty>{t("carbon.none")} <code>carbon.zones</code></Empty>}
      {here && <div className="grid">
        <div className="card span12"><div className="wide-table"><ZoneTable zones={list} chosen={here.zone} choose={setAsked} /></div></div>
        <ZoneView key={here.zone} zone={here} live={live} />
      </div>}
    </>
  );
}

/** What went wrong, by its kind in words; what the provider itself said stands in the title. */
const failureText = (failure: string, code: (prefix: string, c: unknown) => string): string => code("carbon.f", failure.split(":")[0]);

/** The server's reason follows from the step; who failed and how stands behind it. */
function whyOf(z: ZoneState, t: ReturnType<typeof useWords>["t"], code: (prefix: string, c: unknown) => string): string {
  const key = `carbon.why.${z.state}`;
  const why = key in kWhy ? t(kWhy[key as keyof typeof kWhy]) : (z.degraded_reason ?? "");
  const failed = z.providers.filter((p) => p.failure !== null).map((p) => `${p.provider}: ${failureText(p.failure ?? "", code)}`);
  return failed.length === 0 ? why : t("carbon.why.failed", { why, who: failed.join(", ") });
}

function identity(z: ZoneState, code: (prefix: string, c: unknown) => string): string {
  return [code("carbon.kind", z.kind), code("carbon.boundary", z.boundary), code("carbon.basis", z.basis)].join(" · ");
}

function ZoneTable({ zones, chosen, choose }: { zones: readonly ZoneState[]; chosen: string; choose: (z: string) => void }): JSX.Element {
  const { t, code, duration } = useWords();
  return (
    <table className="table">
      <thead><tr><th scope="col">{t("carbon.zone")}</th><th scope="col" className="r">{t("carbon.intensity", { unit: "g/kWh" })}</th><th scope="col">{t("carbon.quality")}</th><th scope="col" className="opt">{t("carbon.age")}</th><th scope="col">{t("carbon.step")}</th><th scope="col" className="opt">{t("carbon.series")}</th></tr></thead>
      <tbody>
        {zones.map((z) => (
          <tr key={z.zone} data-row={z.zone} className={z.zone === chosen ? "chosen" : undefined}>
            <td><button type="button" aria-pressed={z.zone === chosen} onClick={() => choose(z.zone)}>{z.zone}</button></td>
            <td className="r"><Value text={number(z.gco2_per_kwh)} reason={z.degraded_reason ?? t("carbon.no_data")} /></td>
            <td className={z.quality === "measured" ? "" : "est-text"}><Value text={z.quality === null ? kUnknown : code("carbon.q", z.quality)} reason={z.degraded_reason ?? t("carbon.no_data")} /></td>
            <td className="opt"><Value text={known(z.age_seconds) === null ? kUnknown : duration(z.age_seconds)} reason={z.degraded_reason ?? t("carbon.no_data")} /></td>
            <td className={z.degraded_reason ? "warn-text" : ""}>{z.degraded_reason ? "▲ " : ""}{code("carbon.step", z.state)}</td>
            <td className="dim opt">{identity(z, code)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ZoneView({ zone, live }: { zone: ZoneState; live: boolean }): JSX.Element {
  const { t, code, duration } = useWords();
  const latest = useZoneLatest(zone.zone, live ? 30_000 : false);
  const recent = useZoneHistory(zone.zone, "3d");
  const month = useZoneHistory(zone.zone, "28d");
  const forecast = useZoneForecast(zone.zone, 72);
  const days = useMemo(() => {
    const means = hourlyMeans(month.data?.history ?? []);
    const today = Math.floor(Date.now() / 86_400_000) * 86_400_000;
    return Array.from({ length: 28 }, (_, i) => {
      const day = today - (27 - i) * 86_400_000;
      return { label: new Date(day).toISOString().slice(0, 10), cells: Array.from({ length: 24 }, (_h, h) => means.get(day + h * 3_600_000) ?? null) };
    });
  }, [month.data]);
  const stale = latest.data?.stale_point ?? null;
  return (
    <>
      {zone.degraded_reason !== null && <div className="span12 message warn" role="status">▲ {zone.state === "off" ? t("carbon.off", { zone: zone.zone, reason: whyOf(zone, t, code) }) : t("carbon.degraded", { step: code("carbon.step", zone.state), reason: whyOf(zone, t, code) })}</div>}
      <section className="card span12" aria-label={t("carbon.chain")}>
        <div className="card-head"><h2>{t("carbon.chain")}</h2><span className="dim">{zone.zone} · {identity(zone, code)}{known(zone.age_seconds) === null ? "" : ` · ${t("carbon.age")} ${duration(zone.age_seconds)}`}</span></div>
        <ol className="chain">{kSteps.map((s) => <li key={s} className={s === zone.state ? "here" : "dim"} aria-current={s === zone.state ? "step" : undefined}>{s === zone.state ? "●" : "○"} {code("carbon.step", s)}</li>)}</ol>
        <div className="wide-table"><table className="table">
          <thead><tr><th scope="col">{t("carbon.provider")}</th><th scope="col">{t("carbon.provider.state")}</th><th scope="col">{t("carbon.provider.failure")}</th><th scope="col" className="r">{t("carbon.provider.answers")}</th></tr></thead>
          <tbody>{zone.providers.map((p, i) => (
            <tr key={`${p.provider}/${i}`}><td>{i + 1}. {p.provider}</td><td className={p.state === "ok" ? "" : p.state === "untried" ? "dim" : "warn-text"}>{p.state === "ok" ? "● " : p.state === "untried" ? "○ " : "▲ "}{code("carbon.p", p.state)}</td><td className="clip" title={p.failure ?? ""}>{p.failure === null ? "" : failureText(p.failure, code)}</td><td className="r">{p.successes}</td></tr>
          ))}</tbody>
        </table></div>
        {stale && <p className="line warn-text">{t("carbon.stale", { g: number(stale.gco2_per_kwh), age: duration((Date.now() - Date.parse(stale.end)) / 1000) })}</p>}
      </section>
      <section className="card span12" aria-label={t("carbon.expected")}>
        <div className="card-head"><h2>{t("carbon.expected")} <span className="dim">g/kWh</span></h2></div>
        <Guard>{forecast.isPending || recent.isPending ? <Skeleton lines={8} /> : <Intensity history={recent.data?.history ?? []} forecast={forecast.data?.forecast ?? []} now={Date.now()} />}</Guard>
        {forecast.data && <Score of={forecast.data} />}
      </section>
      <section className="card span12" aria-label={t("carbon.heat")}>
        <div className="card-head"><h2>{t("carbon.heat")}</h2></div>
        <Guard>{month.isPending ? <Skeleton lines={10} /> : <HeatMap days={days} scale={kCiScale} shown={count} caption={t("carbon.heat.caption")} label={t("carbon.heat")} />}</Guard>
      </section>
      <p className="span12 dim foot-notes"><span>{t("carbon.two_uses")} <Link to={hrefTo("/reports")}>{t("nav.reports")}</Link></span></p>
    </>
  );
}

function Score({ of }: { of: CarbonForecast }): JSX.Element {
  const { t, code } = useWords();
  if (of.scores.length === 0) return <p className="line dim">{t("carbon.score.none")}</p>;
  const days = [...new Set(of.scores.map((s) => s.day))].sort((a, b) => a - b);
  return (
    <p className="line dim">{t("carbon.score")} {days.map((d) => `${t("carbon.score.day", { d })} ${of.scores.filter((s) => s.day === d).map((s) => `${code("carbon.forecaster", s.forecaster)} ${number(s.mape)}%`).join(" / ")}`).join(" · ")}</p>
  );
}
