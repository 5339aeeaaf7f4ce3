/** Carbon by the hourly signal, beside the annual factor and never added to it: kind, quality and coverage are said. */
import { useAccounting, type ReportCarbon, type SeriesHead } from "../api/carbon";
import type { CarbonRate } from "../api/types";
import { gasName, kMass, known, number, percent, quantity } from "../format/number";
import { useWords } from "../i18n";
import { Value } from "./Value";

type Code = (prefix: string, c: unknown) => string;

export const seriesText = (s: SeriesHead, code: Code): string => [code("carbon.kind", s.kind), code("carbon.boundary", s.boundary), code("carbon.basis", s.basis)].join(" · ");

const gasOf = (boundary: string | undefined): string => gasName(boundary === "co2_only" ? "co2" : "co2e");

/** Of a period. */
export function HourlyCarbon({ scope, id, cluster, range, every }: { scope: "task" | "node"; id: string; cluster: string; range: string; every: number | false }): JSX.Element | null {
  const { t, code } = useWords();
  const accounting = useAccounting({ scope, id, cluster, range }, every);
  const total = accounting.data?.total;
  if (!total?.carbon) return null;
  const hourly: ReportCarbon["hourly_signal"] = total.carbon.hourly_signal;
  const series = accounting.data?.series ?? [];
  const mass = quantity(hourly.kgco2e.value, kMass);
  const kinds = [...new Set(series.map((s) => seriesText(s, code)))].join("; ");
  return (
    <div className="line" data-method="hourly_signal">
      <span className="dim">{t("hourly.title")}</span> <Value text={mass.text} unit={mass.unit === "" ? "" : `${mass.unit}\u00a0${gasOf(series[0]?.boundary)}`} reason={code("reason", hourly.kgco2e.reason)} />
      {known(hourly.kgco2e.value) === null ? <span className="dim"> {code("reason", hourly.kgco2e.reason)}</span>
        : <span className="dim"> · {t("hourly.coverage", { c: percent(hourly.carbon_coverage) })}{kinds === "" ? "" : ` · ${kinds}`}</span>}
    </div>
  );
}

/** Of a node's power now. */
export function SignalNow({ rate }: { rate: CarbonRate }): JSX.Element | null {
  const { t, code, duration } = useWords();
  const signal = rate.hourly_signal;
  if (signal === undefined) return null;
  if (signal === null) return <span className="dim small" data-method="hourly_signal">{t("hourly.title")}: {t("hourly.no_chain")}</span>;
  const grams = known(signal.grams_per_hour);
  const q = quantity(grams === null ? null : grams / 1000, [["kg", 1], ["t", 1e3]]);
  const intensity = known(signal.intensity_g_per_kwh);
  const quality = signal.quality === null || signal.quality === undefined ? null : code("carbon.q", signal.quality);
  return (
    <span className="dim small" data-method="hourly_signal" title={signal.degraded_reason ?? undefined}>
      {t("hourly.title")}: <Value text={q.text} unit={q.unit === "" ? "" : `${q.unit}\u00a0${gasOf(signal.boundary)}/h`} reason={signal.reason ? code("reason", signal.reason) : t("unknown.no_reading")} />
      {intensity !== null && <> · {number(Math.round(intensity))} g/kWh · {seriesText(signal, code)}</>}
      {quality !== null && <> · <span className={signal.quality === "measured" ? "" : "est-text"}>{quality}</span></>}
      {signal.degraded_reason && <> · <span className="warn-text nowrap">▲ {code("carbon.step", signal.state)}{known(signal.age_seconds) === null ? "" : ` · ${duration(signal.age_seconds)}`}</span></>}
    </span>
  );
}
