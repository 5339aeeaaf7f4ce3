/** A zone's intensity: what was told as a solid line, what is expected dashed with its band, "now" between them. */
import { useLayoutEffect, useRef, useState, type PointerEvent } from "react";
import type { CarbonPoint, ForecastPoint } from "../api/carbon";
import { kUnknown, known, number } from "../format/number";
import { dateText } from "../format/time";
import { useWords } from "../i18n";

const kLeft = 44;
const kBottom = 20;
const kTop = 8;
const kHeight = 220;
const kDayName = 64;

interface Box { from: number; to: number; value: number; p10: number | null; p90: number | null; sure: boolean }

const box = (p: CarbonPoint & Partial<ForecastPoint>): Box => ({ from: Date.parse(p.start), to: Date.parse(p.end), value: p.gco2_per_kwh, p10: known(p.p10), p90: known(p.p90), sure: p.quality === "measured" });

/** Stretches without a hole of the same sureness: a gap breaks the line, an estimate changes it. */
export function runs(points: readonly Box[]): Box[][] {
  const out: Box[][] = [];
  for (const p of points) {
    const last = out.at(-1)?.at(-1);
    if (last && last.to === p.from && last.sure === p.sure) out.at(-1)?.push(p);
    else out.push([p]);
  }
  return out;
}

export function Intensity({ history, forecast, now }: { history: readonly CarbonPoint[]; forecast: readonly ForecastPoint[]; now: number }): JSX.Element {
  const { t, lang, zone, time, range } = useWords();
  const holder = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(700);
  const [at, setAt] = useState<number | null>(null);
  useLayoutEffect(() => {
    const el = holder.current;
    if (!el) return undefined;
    const measure = (): void => setWidth(Math.max(240, Math.floor(el.clientWidth)));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(el);
    return () => watch.disconnect();
  }, []);
  const past = history.map(box);
  const next = forecast.filter((p) => Date.parse(p.end) > now).map(box);
  const all = [...past, ...next];
  const first = all[0];
  if (!first) return <p className="dim">{t("carbon.no_points")}</p>;
  const from = Math.min(...all.map((p) => p.from));
  const to = Math.max(...all.map((p) => p.to));
  const top = Math.max(...all.map((p) => p.p90 ?? p.value), 1);
  const rough = top / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough) ?? 10 * power;
  const high = Math.ceil(top / step) * step;
  const x = (ms: number): number => kLeft + ((ms - from) / (to - from)) * (width - kLeft - 4);
  const y = (v: number): number => kTop + (1 - v / high) * (kHeight - kTop - kBottom);
  const line = (run: readonly Box[], value: (p: Box) => number): string => run.flatMap((p) => [`${x(p.from).toFixed(1)},${y(value(p)).toFixed(1)}`, `${x(p.to).toFixed(1)},${y(value(p)).toFixed(1)}`]).join(" ");
  const bands = runs(next.filter((p) => p.p10 !== null && p.p90 !== null).map((p) => ({ ...p, sure: false })));
  const days: number[] = [];
  for (let d = Math.ceil(from / 86_400_000) * 86_400_000; d < to; d += 86_400_000) days.push(d);
  // On a phone a day is narrower than its name.
  const everyDay = Math.max(1, Math.ceil((kDayName * days.length) / Math.max(1, width - kLeft)));
  const move = (e: PointerEvent<SVGSVGElement>): void => {
    const rect = e.currentTarget.getBoundingClientRect();
    setAt(from + ((e.clientX - rect.left - kLeft) / (width - kLeft - 4)) * (to - from));
  };
  const told = at === null ? undefined : all.find((p) => p.from <= at && at < p.to);
  const least = next.length > 0 ? next.reduce((a, b) => (b.value < a.value ? b : a)) : null;
  return (
    <figure>
      <figcaption className="dim">{least ? t("carbon.cleanest", { at: range(least.from, least.to), g: number(least.value) }) : t("carbon.no_forecast")}</figcaption>
      <div ref={holder}>
        <svg className="intensity" width={width} height={kHeight} viewBox={`0 0 ${width} ${kHeight}`} role="img" aria-label={t("carbon.chart.aria", { n: past.length, m: next.length })} onPointerMove={move} onPointerLeave={() => setAt(null)}>
          {Array.from({ length: Math.round(high / step) + 1 }, (_, i) => i * step).map((v) => <g key={v}><line x1={kLeft} x2={width} y1={y(v)} y2={y(v)} className="rule" /><text x={kLeft - 4} y={y(v) + 4} textAnchor="end">{number(v)}</text></g>)}
          {days.map((d, i) => <g key={d}><line x1={x(d)} x2={x(d)} y1={kTop} y2={kHeight - kBottom} className="rule" />{i % everyDay === 0 && x(d) + kDayName < width && <text x={x(d) + 3} y={kHeight - 5}>{dateText(d, zone, lang)}</text>}</g>)}
          {bands.map((run) => <polygon key={run[0]?.from} className="band" points={`${line(run, (p) => p.p90 ?? p.value)} ${line([...run].reverse().map((p) => ({ ...p, from: p.to, to: p.from })), (p) => p.p10 ?? p.value)}`} />)}
          {runs(past).map((run) => <polyline key={run[0]?.from} className={run[0]?.sure ? "told" : "told estimate"} points={line(run, (p) => p.value)} />)}
          {runs(next).map((run) => <polyline key={run[0]?.from} className="expected" points={line(run, (p) => p.value)} />)}
          <line x1={x(now)} x2={x(now)} y1={kTop} y2={kHeight - kBottom} className="now" />
          <text x={x(now) + 3} y={kTop + 10} className="now-text">{t("carbon.now")}</text>
        </svg>
      </div>
      <div className="line">{told ? <>{time(told.from)} · {number(told.value)} g/kWh{told.p10 !== null && told.p90 !== null ? ` (80%: ${number(told.p10)}–${number(told.p90)})` : ""}</> : at === null ? "\u00a0" : `${kUnknown} ${t("carbon.no_data")}`}</div>
      <ul className="classes">
        <li><svg width="20" height="8" aria-hidden="true"><line x1="0" x2="20" y1="4" y2="4" className="told" /></svg> {t("carbon.legend.measured")}</li>
        <li><svg width="20" height="8" aria-hidden="true"><line x1="0" x2="20" y1="4" y2="4" className="told estimate" /></svg> {t("carbon.legend.estimated")}</li>
        <li><svg width="20" height="8" aria-hidden="true"><line x1="0" x2="20" y1="4" y2="4" className="expected" /></svg> {t("carbon.legend.forecast")}</li>
        <li><svg width="20" height="8" aria-hidden="true"><rect width="20" height="8" className="band" /></svg> {bands.length > 0 ? t("carbon.legend.band") : t("carbon.legend.no_band")}</li>
      </ul>
    </figure>
  );
}
