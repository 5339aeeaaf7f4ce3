/**
 * Curves as the chart draws them. Unknown points are absent from the API's answer, so where a line must break is
 * decided here, once: at each gap's start, and wherever two points are further apart than the sampling allows.
 */
import type { PowerGap, PowerPoint, PowerSeries } from "../api/types";
import { millis } from "../format/time";

export type LineKind = "device" | "single" | "sum" | "estimate";

export interface Line {
  key: string;
  label: string;
  kind: LineKind;
  /** Fixes colour and glyph; −1 for the sum. */
  index: number;
  nodeId: string;
  points: PowerPoint[];
  limit: number | null;
}

export interface Interval {
  from: number;
  to: number;
  cause: string;
  /** Set when only this series has the hole. */
  key?: string;
  /** Which part of it really had no value, 0 to 1; near holes are one. Absent: all of it. */
  share?: number;
}

export const kGlyphs = ["●", "■", "▲", "◆", "○", "□", "△", "◇"] as const;
export const glyphOf = (line: Pick<Line, "kind" | "index">): string =>
  line.kind === "sum" ? "┄" : line.kind === "estimate" ? "┈" : line.kind === "single" ? "━" : (kGlyphs[((line.index % 8) + 8) % 8] ?? "●");

/** CSS variable of a line's colour: by index, on every page and under every filter. */
export const colourOf = (line: Pick<Line, "kind" | "index">): string =>
  line.kind === "sum" ? "--tw-sum" : line.kind === "estimate" ? "--tw-estimated" : line.kind === "single" ? "--tw-accent" : `--tw-dev${((line.index % 8) + 8) % 8}`;

/** The longest step between two points of one unbroken line. */
export const longestStep = (bucketSeconds: number): number => Math.max(60_000, 2.5 * bucketSeconds * 1000);

export function parseGaps(gaps: readonly PowerGap[]): (Interval & { nodeId: string })[] {
  const out: (Interval & { nodeId: string })[] = [];
  for (const g of gaps) {
    const from = millis(g.from);
    const to = millis(g.to);
    if (from !== null && to !== null && to > from) out.push({ from, to, cause: g.cause, nodeId: g.node_id, ...(g.key ? { key: g.key } : {}), ...(typeof g.seconds === "number" && g.seconds >= 0 ? { share: Math.min(1, (g.seconds * 1000) / (to - from)) } : {}) });
  }
  return out.sort((a, b) => a.from - b.from);
}

/** Index i is in the answer when the line breaks between points i and i + 1. */
export function breaksOf(points: readonly PowerPoint[], gaps: readonly Interval[], stepMs: number): Set<number> {
  const out = new Set<number>();
  for (let i = 0; i + 1 < points.length; i += 1) {
    const a = points[i]?.[0] ?? 0;
    const b = points[i + 1]?.[0] ?? 0;
    if (b - a > stepMs) out.add(i);
  }
  for (const g of gaps) {
    // A hole that other devices may have caused does not break a line that has its points.
    if (g.cause !== "no_data" && g.key === undefined) continue;
    let i = lastAtOrBefore(points, g.from);
    // Points inside the reported hole belong to neither side of it.
    if (i < 0) continue;
    const next = points[i + 1];
    if (next && next[0] > g.from) out.add(i);
    while (i + 1 < points.length && (points[i + 1]?.[0] ?? Infinity) < g.to) i += 1;
    if (i + 1 < points.length) out.add(i);
  }
  return out;
}

/** Index of the last point at or before `t`; −1 when there is none. */
export function lastAtOrBefore(points: readonly PowerPoint[], t: number): number {
  let lo = 0;
  let hi = points.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if ((points[mid]?.[0] ?? 0) <= t) lo = mid + 1;
    else hi = mid;
  }
  return lo - 1;
}

/** Unbroken runs as [first, last] indices. */
export function runsOf(count: number, breaks: ReadonlySet<number>): [number, number][] {
  const out: [number, number][] = [];
  let start = 0;
  for (let i = 0; i < count; i += 1) {
    if (breaks.has(i) || i === count - 1) {
      out.push([start, i]);
      start = i + 1;
    }
  }
  return out;
}

export type Cell = number | null | undefined;

export interface Aligned {
  /** Sorted union of all times, ms. */
  x: number[];
  /** Per line: number, null where the line breaks, undefined where this line has no sample at this x. */
  y: Cell[][];
  /** Per line: columns of points that stand alone and must be drawn as dots. */
  lone: number[][];
  runs: [number, number][][];
}

export interface AlignInput {
  points: readonly PowerPoint[];
  gaps: readonly Interval[];
  /** Breaks known beforehand: after these points. */
  cuts?: ReadonlySet<number>;
}

export function align(lines: readonly AlignInput[], stepMs: number): Aligned {
  const breaks = lines.map((l) => new Set([...breaksOf(l.points, l.gaps, stepMs), ...(l.cuts ?? [])]));
  const times = new Set<number>();
  lines.forEach((l, k) => {
    l.points.forEach((p, i) => {
      times.add(p[0]);
      if (breaks[k]?.has(i)) times.add(breakTime(l, i));
    });
  });
  const x = [...times].sort((a, b) => a - b);
  const column = new Map(x.map((t, i) => [t, i]));
  const runs = lines.map((l, k) => runsOf(l.points.length, breaks[k] ?? new Set()));
  const lone = lines.map((l, k) => (runs[k] ?? []).filter(([a, b]) => a === b).map(([a]) => column.get(l.points[a]?.[0] ?? NaN) ?? 0));
  const y = lines.map((l, k) => {
    const row: Cell[] = new Array<Cell>(x.length).fill(undefined);
    l.points.forEach((_, i) => {
      // Null up to the next sample: the plot would draw on over columns that only other lines have.
      const next = column.get(l.points[i + 1]?.[0] ?? NaN);
      const from = column.get(l.points[i]?.[0] ?? NaN);
      if (breaks[k]?.has(i) && from !== undefined && next !== undefined) row.fill(null, from + 1, next);
    });
    for (const p of l.points) row[column.get(p[0]) ?? 0] = Number.isFinite(p[1]) ? p[1] : null;
    return row;
  });
  return { x, y, lone, runs };
}

/** Where the null of a break goes: at the gap's start, strictly between the two points. */
function breakTime(line: AlignInput, i: number): number {
  const a = line.points[i]?.[0] ?? 0;
  const b = line.points[i + 1]?.[0] ?? a + 2;
  const gap = line.gaps.find((g) => g.from > a && g.from < b);
  return gap ? gap.from : a + Math.min(1, (b - a) / 2);
}

/** The sum in two strokes: where all devices were known, and thinner where only some were. */
export interface SplitSum { whole: PowerPoint[]; partial: PowerPoint[]; wholeCuts: Set<number>; partialCuts: Set<number> }

export function splitSum(points: readonly PowerPoint[]): SplitSum {
  const whole: PowerPoint[] = [];
  const partial: PowerPoint[] = [];
  const wholeCuts = new Set<number>();
  const partialCuts = new Set<number>();
  const isPartial = (p: PowerPoint | undefined): boolean => p !== undefined && p[4] !== undefined && p[5] !== undefined && p[4] < p[5];
  points.forEach((p, i) => {
    if (isPartial(p)) {
      partial.push(p);
      if (whole.length > 0) wholeCuts.add(whole.length - 1);
    } else {
      whole.push(p);
      // Where the stroke changes, the thin one reaches over so that the line looks unbroken.
      if (isPartial(points[i + 1]) || isPartial(points[i - 1])) partial.push(p);
      // But never over points that are fully known.
      if (!isPartial(points[i + 1]) && partial.length > 0) partialCuts.add(partial.length - 1);
    }
  });
  return { whole, partial, wholeCuts, partialCuts };
}

export interface Folded { shown: Line[]; rest: Line[] }

/** At most `most` device lines: the pinned ones, else the first indices. Sum and estimate do not count. */
export function fold(lines: readonly Line[], pinned: readonly string[], most = 8): Folded {
  const devices = lines.filter((l) => l.kind === "device");
  if (devices.length <= most) return { shown: [...lines], rest: [] };
  const chosen = new Set(devices.filter((d) => pinned.includes(d.key)).slice(0, most).map((d) => d.key));
  for (const d of [...devices].sort((a, b) => a.index - b.index)) {
    if (chosen.size >= most) break;
    if (pinned.length === 0) chosen.add(d.key);
  }
  return { shown: lines.filter((l) => l.kind !== "device" || chosen.has(l.key)), rest: devices.filter((d) => !chosen.has(d.key)) };
}

/** Min–max envelope of the folded lines at the times any of them has a point. */
export function envelope(rest: readonly Line[]): PowerPoint[] {
  const at = new Map<number, PowerPoint>();
  for (const l of rest) {
    for (const [t, mean, lo, hi] of l.points) {
      const e = at.get(t);
      if (!e) at.set(t, [t, mean, lo, hi]);
      else {
        e[2] = Math.min(e[2], lo);
        e[3] = Math.max(e[3], hi);
      }
    }
  }
  return [...at.values()].sort((a, b) => a[0] - b[0]);
}

/** Device series of one domain as lines, in index order. */
export function deviceLines(series: readonly PowerSeries[], domain: string, label: (s: PowerSeries) => string): Line[] {
  return series
    .filter((s) => s.domain === domain && s.index >= 0)
    .sort((a, b) => a.index - b.index || a.node_id.localeCompare(b.node_id))
    .map((s) => ({ key: s.key, label: label(s), kind: "device", index: s.index, nodeId: s.node_id, points: s.points, limit: s.power_limit_watts ?? null }));
}

export interface Finding { mean: number | null; peak: number | null; peakAt: number | null }

/** Mean over the points (equal buckets) and the highest kept peak. */
export function finding(points: readonly PowerPoint[], from: number, to: number): Finding {
  let sum = 0;
  let n = 0;
  let peak: number | null = null;
  let peakAt: number | null = null;
  for (const [t, mean, , hi] of points) {
    if (t < from || t > to || !Number.isFinite(mean)) continue;
    sum += mean;
    n += 1;
    if (peak === null || hi > peak) {
      peak = hi;
      peakAt = t;
    }
  }
  return { mean: n > 0 ? sum / n : null, peak, peakAt };
}
