/** 96 × 20, no axis; a missing value is a break in the line and a hatch, never a bridge. */
import { known } from "../format/number";
import { useWords } from "../i18n";

export function Sparkline({ values, max, width = 96, height = 20 }: { values: readonly (number | null)[]; max: number; width?: number; height?: number }): JSX.Element {
  const { t } = useWords();
  const n = values.length;
  const seen = values.filter((v) => known(v) !== null).length;
  const step = n > 0 ? width / n : width;
  const y = (v: number): number => height - 2 - (max > 0 ? (v / max) * (height - 4) : 0);
  const runs: string[] = [];
  let run: string[] = [];
  const lone: [number, number][] = [];
  values.forEach((v, i) => {
    const k = known(v);
    if (k !== null) run.push(`${((i + 0.5) * step).toFixed(1)},${y(k).toFixed(1)}`);
    if (k === null || i === n - 1) {
      if (run.length > 1) runs.push(run.join(" "));
      else if (run.length === 1) {
        const [a, b] = (run[0] ?? "0,0").split(",");
        lone.push([Number(a), Number(b)]);
      }
      run = [];
    }
  });
  const gaps: [number, number][] = [];
  values.forEach((v, i) => {
    if (known(v) !== null) return;
    const last = gaps[gaps.length - 1];
    if (last && last[1] === i) last[1] = i + 1;
    else gaps.push([i, i + 1]);
  });
  return (
    <svg className="spark" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={t("nodes.trend.aria", { n: seen, total: n })} data-gaps={gaps.length}>
      {gaps.map(([a, b]) => <rect key={a} x={a * step} y={height - 7} width={(b - a) * step} height={6} fill="url(#tw-hatch)" />)}
      {n === 0 && <rect x={0} y={height - 7} width={width} height={6} fill="url(#tw-hatch)" />}
      {runs.map((r) => <polyline key={r} points={r} fill="none" stroke="var(--tw-accent)" strokeWidth="1.25" />)}
      {lone.map(([x, v]) => <circle key={x} cx={x} cy={v} r="1.5" fill="var(--tw-accent)" />)}
    </svg>
  );
}

/** Patterns shared by all inline pictures; once per page. */
export function Patterns(): JSX.Element {
  return (
    <svg width="0" height="0" className="patterns" aria-hidden="true" focusable="false">
      <defs>
        <pattern id="tw-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="1.5" height="5" fill="var(--tw-edge)" />
        </pattern>
        <pattern id="tw-stripe" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="5" height="5" fill="var(--tw-estimated-tint)" />
          <rect width="1.5" height="5" fill="var(--tw-estimated)" />
        </pattern>
      </defs>
    </svg>
  );
}
