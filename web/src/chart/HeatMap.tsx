/** Hour × day. A cell has one of seven fixed colours; without data it is hatched, never coloured. */
import { useEffect, useState, type KeyboardEvent } from "react";
import { kUnknown, known } from "../format/number";
import { useWords } from "../i18n";
import { classOf, type Scale } from "./classes";

export interface HeatDay { label: string; cells: readonly (number | null)[] }
const kCell = 14;
/** 28 days fit a phone. */
const kSmallCell = 10;
const kPhone = "(max-width: 700px)";
const kLeft = 40;

function useCell(): number {
  const [small, setSmall] = useState(() => window.matchMedia(kPhone).matches);
  useEffect(() => {
    const media = window.matchMedia(kPhone);
    const changed = (): void => setSmall(media.matches);
    media.addEventListener("change", changed);
    return () => media.removeEventListener("change", changed);
  }, []);
  return small ? kSmallCell : kCell;
}

export function HeatMap({ days, scale, shown, caption, label }: { days: readonly HeatDay[]; scale: Scale; shown: (v: number) => string; caption: string; label: string }): JSX.Element {
  const { t } = useWords();
  const [at, setAt] = useState<[day: number, hour: number] | null>(null);
  const cell = useCell();
  const width = kLeft + days.length * cell + 24;
  const height = 24 * cell + 18;
  const said = (day: number, hour: number): string => {
    const d = days[day];
    const v = known(d?.cells[hour]);
    return `${d?.label ?? ""} ${String(hour).padStart(2, "0")}:00 UTC · ${v === null ? `${kUnknown} ${t("carbon.no_data")}` : shown(v)}`;
  };
  const key = (e: KeyboardEvent): void => {
    const step: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const by = step[e.key];
    if (!by) return;
    e.preventDefault();
    const [d, h] = at ?? [days.length - 1, 0];
    setAt([Math.max(0, Math.min(days.length - 1, d + by[0])), Math.max(0, Math.min(23, h + by[1]))]);
  };
  const every = Math.max(1, Math.ceil(days.length / Math.max(1, Math.floor((days.length * cell) / 44))));
  return (
    <figure className="heat">
      <figcaption className="dim">{caption}</figcaption>
      <div className="wide-table">
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={at ? said(...at) : label} tabIndex={0} onKeyDown={key} onPointerLeave={() => setAt(null)}>
          {[0, 6, 12, 18].map((h) => <text key={h} x={kLeft - 4} y={h * cell + 11} textAnchor="end">{String(h).padStart(2, "0")}:00</text>)}
          {days.map((d, i) => d.cells.map((v, h) => {
            const c = classOf(v, scale);
            return <rect key={`${d.label}/${h}`} x={kLeft + i * cell} y={h * cell} width={cell - 1} height={cell - 1} className={c === null ? "none" : `${scale.prefix}${c}`} fill={c === null ? "url(#tw-hatch)" : undefined} onPointerEnter={() => setAt([i, h])} data-none={c === null ? "" : undefined} />;
          }))}
          {at && <rect x={kLeft + at[0] * cell - 0.5} y={at[1] * cell - 0.5} width={cell} height={cell} className="cursor" />}
          {days.map((d, i) => (i % every === 0 ? <text key={d.label} x={kLeft + i * cell} y={height - 4}>{d.label.slice(5)}</text> : null))}
        </svg>
      </div>
      <div className="line" aria-live="polite">{at ? said(...at) : "\u00a0"}</div>
      <ul className="classes">
        {Array.from({ length: scale.breaks.length + 1 }, (_, i) => {
          const lo = scale.breaks[i - 1];
          const hi = scale.breaks[i];
          return <li key={i}><svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" className={`${scale.prefix}${i}`} /></svg> {lo === undefined ? `< ${shown(hi ?? 0)}` : hi === undefined ? `≥ ${shown(lo)}` : `${shown(lo)}–${shown(hi)}`}</li>;
        })}
        <li><svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" fill="url(#tw-hatch)" /></svg> {t("carbon.no_data")}</li>
      </ul>
    </figure>
  );
}
