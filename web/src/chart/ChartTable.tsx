/** The same data as the chart, as a table: only visible rows are in the page. */
import { useState } from "react";
import { kUnknown, number } from "../format/number";
import { isoText } from "../format/time";
import { useWords } from "../i18n";
import { Unknown } from "../ui/Value";
import type { Line } from "./lines";

interface ChartTableProps { lines: readonly Line[]; unit: string; factor: number; name: string }

const kRow = 24;
const kHeight = 240;

function rowsOf(lines: readonly Line[]): { times: number[]; at: Map<number, number>[] } {
  const times = new Set<number>();
  const at = lines.map((l) => new Map(l.points.map((p) => [p[0], p[1]] as const)));
  for (const l of lines) for (const p of l.points) times.add(p[0]);
  return { times: [...times].sort((a, b) => b - a), at };
}

function csv(lines: readonly Line[]): string {
  const { times, at } = rowsOf(lines);
  const quote = (s: string): string => `"${s.replaceAll('"', '""')}"`;
  const head = ["time_utc", ...lines.map((l) => quote(`${l.label} W`))].join(",");
  return [head, ...times.map((x) => [isoText(x), ...at.map((m) => m.get(x) ?? "")].join(","))].join("\n");
}

export function ChartTable({ lines, unit, factor, name }: ChartTableProps): JSX.Element {
  const { t, time } = useWords();
  const [top, setTop] = useState(0);
  const { times, at } = rowsOf(lines);
  const first = Math.max(0, Math.floor(top / kRow) - 4);
  const shown = times.slice(first, first + Math.ceil(kHeight / kRow) + 8);
  const save = (): void => {
    const url = URL.createObjectURL(new Blob([csv(lines)], { type: "text/csv" }));
    const a = document.createElement("a");
    a.href = url;
    a.download = `${name}.csv`;
    a.click();
    URL.revokeObjectURL(url);
  };
  return (
    <div className="chart-table">
      <div className="chart-table-scroll" style={{ height: kHeight }} tabIndex={0} onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t("col.time")}</th>
              {lines.map((l) => <th key={l.key} scope="col" className="r">{l.label}, {unit}</th>)}
            </tr>
          </thead>
          <tbody>
            {first > 0 && <tr aria-hidden="true"><td colSpan={lines.length + 1} className="spacer" style={{ height: first * kRow }} /></tr>}
            {shown.map((x) => (
              <tr key={x}>
                <td title={isoText(x)}>{time(x, true)}</td>
                {at.map((m, k) => {
                  const v = m.get(x);
                  const text = number(v === undefined ? null : v / factor, 4);
                  return <td key={lines[k]?.key} className="r num">{text === kUnknown ? <Unknown reason={t("unknown.no_reading")} /> : text}</td>;
                })}
              </tr>
            ))}
            {first + shown.length < times.length && <tr aria-hidden="true"><td colSpan={lines.length + 1} className="spacer" style={{ height: (times.length - first - shown.length) * kRow }} /></tr>}
          </tbody>
        </table>
      </div>
      <button type="button" className="button small" onClick={save}>{t("chart.csv")}</button>
    </div>
  );
}
