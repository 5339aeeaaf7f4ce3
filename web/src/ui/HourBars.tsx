/** Energy per hour (or day): unknown is a hatched column, never a zero; low coverage wears a hatch cap. */
import { useLayoutEffect, useRef, useState } from "react";
import type { Energy, HourRow } from "../api/types";
import { coverage, coverageIsLow, kEnergy, known, kwh, kwhOf, microjoules, number, pickFor } from "../format/number";
import { dateText, millis, parts, type Zone } from "../format/time";
import { useWords } from "../i18n";
import { SimBadge } from "./Badges";

export interface Bar { from: number; to: number; value: number | null; uj: bigint | null; coverage: number | null; hours: number; missing: number; early: number; covered: number; gap: number; partial: number }

/** As the ledger divides them: of sums of seconds, never a mean of percentages. */
const shareOf = (covered: number, gap: number): number | null => (covered + gap > 0 ? covered / (covered + gap) : null);

/** Hours as bars; from 49 hours on, days of the reader's zone, each with its missing hours counted. */
export function bars(hours: readonly HourRow[], zone: Zone, since: number | null = null): Bar[] {
  const kHour = 3_600_000;
  const one = hours.flatMap((h): Bar[] => {
    const from = millis(h.hour);
    if (from === null) return [];
    const empty = known(h.energy_kwh) === null;
    const early = since !== null && from + kHour <= since;
    return [{ from, to: from + kHour, value: known(h.energy_kwh), uj: microjoules(h.energy_uj), coverage: known(h.coverage), hours: 1, missing: empty && !early ? 1 : 0, early: empty && early ? 1 : 0, covered: known(h.covered_seconds) ?? 0, gap: known(h.gap_seconds) ?? 0, partial: known(h.partial_seconds) ?? 0 }];
  });
  if (one.length <= 49) return one;
  const days = new Map<string, Bar>();
  for (const h of one) {
    const p = parts(h.from, zone);
    const key = `${p.year}-${p.month}-${p.day}`;
    const d = days.get(key);
    if (!d) {
      days.set(key, { ...h });
      continue;
    }
    d.to = h.to;
    d.hours += 1;
    d.missing += h.missing;
    d.early += h.early;
    d.covered += h.covered;
    d.gap += h.gap;
    d.coverage = shareOf(d.covered, d.gap);
    d.partial += h.partial;
    if (h.value !== null) d.value = (d.value ?? 0) + h.value;
    if (h.uj !== null) d.uj = (d.uj ?? 0n) + h.uj;
  }
  return [...days.values()];
}

/** The bars' sum, to the microjoule: it is the total's, but for what came after its month was sealed. */
export function sumOf(list: readonly Bar[]): number | null {
  const exact = list.reduce<bigint | null>((s, b) => (b.uj === null ? s : (s ?? 0n) + b.uj), null);
  return kwhOf(exact);
}

interface Props { hours: readonly HourRow[]; total?: Energy | undefined; now: number; since?: number | null; height?: number }

export function HourBars({ hours, total, now, since = null, height = 132 }: Props): JSX.Element {
  const { t, range, zone, clock, time, lang } = useWords();
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  const [at, setAt] = useState<number | null>(null);
  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return undefined;
    const measure = (): void => setWidth(Math.max(120, Math.floor(el.clientWidth)));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  const list = bars(hours, zone, since);
  const daily = list.some((b) => b.hours > 1);
  const [unit, factor] = pickFor(kEnergy, list.map((b) => b.value));
  const max = Math.max(...list.map((b) => b.value ?? 0), 0);
  const left = 46;
  const bottom = 20;
  const inner = height - bottom - 14;
  const slot = (width - left - 4) / Math.max(1, list.length);
  const y = (v: number): number => 14 + inner - (max > 0 ? (v / max) * inner : 0);
  const ticks = max > 0 ? niceTicks(max / factor) : [0];
  const every = Math.max(1, Math.ceil(64 / slot));
  const best = list.reduce<Bar | null>((a, b) => (b.value !== null && (a === null || b.value > (a.value ?? 0)) ? b : a), null);
  const sum = sumOf(list);
  const late = known(total?.adjustments_kwh);
  const missing = list.reduce((s, b) => s + b.missing, 0);
  const early = list.reduce((s, b) => s + b.early, 0);
  const hoursTold = list.reduce((s, b) => s + b.hours, 0);
  const without = [missing > 0 ? t("dash.hourly.missing", { n: missing }) : null, early > 0 ? t("dash.hourly.early", { n: early }) : null].filter((x) => x !== null).join(t("word.comma"));
  const [capUnit, capFactor] = pickFor(kEnergy, [sum]);
  const chosen = at === null ? null : list[at];
  return (
    <figure className="bars">
      <div className="card-head"><h2>{t(daily ? "dash.daily" : "dash.hourly", { unit })}</h2><SimBadge quality={total?.quality} />
        <span className="grow" />
        {list.some((b) => b.missing > 0) && <span className="legend-note"><svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" fill="url(#tw-hatch)" /></svg> {t("dash.hourly.nodata")}</span>}
        {list.some((b) => b.value !== null && coverageIsLow(b.coverage)) && <span className="legend-note"><svg width="12" height="12" aria-hidden="true"><rect y="4" width="12" height="8" fill="var(--tw-accent)" /><rect width="12" height="4" fill="url(#tw-hatch)" /></svg> {t("dash.hourly.low")}</span>}
      </div>
      <div ref={box} className="bars-box" style={{ height }}>
        <svg width={width} height={height} role="img" aria-label={t("dash.hourly", { unit })} onPointerLeave={() => setAt(null)}>
          {ticks.map((v) => (
            <g key={v}>
              <line x1={left} x2={width - 4} y1={y(v * factor)} y2={y(v * factor)} stroke="var(--tw-line)" />
              <text x={left - 6} y={y(v * factor) + 4} textAnchor="end" className="axis">{v === 0 ? "0" : v.toLocaleString("en-US", { maximumFractionDigits: 6 })}</text>
            </g>
          ))}
          {list.map((b, i) => {
            const x = left + i * slot;
            const w = Math.max(1, slot - Math.min(3, slot * 0.2));
            const running = now < b.to;
            const low = coverageIsLow(b.coverage);
            return (
              <g key={b.from} data-bar={b.value === null ? "unknown" : running ? "running" : "known"} onPointerEnter={() => setAt(i)}>
                <rect x={x} y={14} width={slot} height={inner} fill="transparent" />
                {b.value === null ? b.missing > 0 && <rect x={x} y={14} width={w} height={inner} fill="url(#tw-hatch)" opacity="0.7" />
                  : running ? <rect x={x + 0.75} y={y(b.value)} width={Math.max(0, w - 1.5)} height={Math.max(0, 14 + inner - y(b.value))} fill="var(--tw-accent-tint)" stroke="var(--tw-accent)" strokeWidth="1.5" />
                  : <rect x={x} y={y(b.value)} width={w} height={Math.max(b.value > 0 ? 1 : 0, 14 + inner - y(b.value))} fill="var(--tw-accent)" opacity={at === i ? 0.8 : 1} />}
                {b.value !== null && low && <rect x={x} y={y(b.value) - 5} width={w} height={4} fill="url(#tw-hatch)" />}
                {i % every === 0 && x + 30 < width && <text x={daily ? x + w / 2 : x} y={height - 6} textAnchor={daily ? "middle" : "start"} className="axis">{daily ? dateText(b.from, zone, lang) : clock(b.from)}</text>}
              </g>
            );
          })}
        </svg>
        {chosen && at !== null && (
          <div className={at > list.length / 2 ? "tip flip" : "tip"} style={at > list.length / 2 ? { right: width - (left + at * slot) + 8 } : { left: left + (at + 1) * slot + 8 }}>
            <div className="tip-title">{range(chosen.from, chosen.to)}{now < chosen.to ? ` · ${t("dash.hourly.sofar")}` : ""}</div>
            <div>{chosen.value === null ? `${kwh(null)} ${t("unknown.no_data")}` : kwh(chosen.value, 4)}</div>
            {chosen.value !== null && <div className="dim">{t("word.coverage")} {coverage(chosen.coverage, chosen.gap, chosen.partial)}</div>}
          </div>
        )}
      </div>
      <figcaption>{sum === null || !best ? t("dash.hourly.none", { n: hoursTold }) : t("dash.hourly.caption", { sum: `${number(sum / capFactor)}\u00a0${capUnit}`, n: hoursTold - missing - early, max: `${number((best.value ?? 0) / capFactor)}\u00a0${capUnit}`, time: time(best.from), without: without === "" ? "" : t("dash.hourly.without", { list: without }) })}{late !== null && ` ${t("dash.hourly.late", { e: kwh(late) })}`}{daily && ` ${t("dash.daily.edges")}`}</figcaption>
    </figure>
  );
}

function niceTicks(max: number): number[] {
  const raw = max / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  const out: number[] = [];
  for (let i = 0; i * step <= max * 1.0001; i += 1) out.push(Number((i * step).toPrecision(12)));
  return out;
}
