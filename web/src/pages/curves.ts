/** Turns the API's curves into the charts of a page. */
import type { PowerCurves, PowerPoint, PowerSeries } from "../api/types";
import { deviceLines, parseGaps, type Line } from "../chart/lines";
import type { SeriesData } from "../chart/Series";
import { millis } from "../format/time";

export interface Frame { from: number; to: number; keptFrom: number; bucketSeconds: number; downsampled: boolean; gaps: SeriesData["gaps"] }

export function frameOf(c: PowerCurves, now: number): Frame {
  return {
    from: millis(c.from) ?? 0, to: millis(c.to) ?? 0, keptFrom: now - c.retention_seconds * 1000,
    bucketSeconds: c.bucket_seconds, downsampled: c.downsampled, gaps: parseGaps(c.gaps),
  };
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
