/** Turns the API's curves into the charts of a page. */
import type { PowerCurves, PowerPoint, PowerSeries } from "../api/types";
import { deviceLines, parseGaps, type Line } from "../chart/lines";
import type { SeriesData } from "../chart/Series";
import { millis } from "../format/time";

export interface Frame { from: number; to: number; keptFrom: number; bucketSeconds: number; downsampled: boolean; gaps: SeriesData["gaps"] }

export function frameOf(c: PowerCurves, now: number): Frame {
  return {
    from: millis(c.from) ?? 0, to: millis(c.to) ?? 0, keptFrom: now - c.retention_seconds * 1000,
    bucketSeconds: c.bucket_seconds > 0 ? c.bucket_seconds : usualStep(c), downsampled: c.downsampled, gaps: parseGaps(c.gaps),
  };
}

/** Raw samples come at their own pace: the median step of the longest curve, in seconds. */
function usualStep(c: PowerCurves): number {
  const longest = c.series.reduce<readonly PowerPoint[]>((a, s) => (s.points.length > a.length ? s.points : a), []);
  const steps = longest.slice(1, 200).map((p, i) => p[0] - (longest[i]?.[0] ?? 0)).sort((a, b) => a - b);
  return Math.max(1, Math.round((steps[Math.floor(steps.length / 2)] ?? 20_000) / 1000));
}

export function sumLine(series: readonly PowerSeries[], domain: string, label: string): Line[] {
  const s = series.find((x) => x.index === -1 && x.domain === domain);
  return s ? [{ key: s.key, label, kind: "sum", index: -1, nodeId: s.node_id, points: s.points, limit: null }] : [];
}

/** Component domains other than accelerators, in one chart: they are of one kind (measured rails). */
export function railLines(series: readonly PowerSeries[], label: (s: PowerSeries) => string): Line[] {
  return ["cpu_package", "dram"].flatMap((d) => deviceLines(series, d, label)).map((l, i) => ({ ...l, index: i }));
}

export function singleLine(key: string, label: string, nodeId: string, points: PowerPoint[], kind: "single" | "estimate"): Line {
  return { key, label, kind, index: 0, nodeId, points, limit: null };
}
