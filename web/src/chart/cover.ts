/** The coverage strip: which parts of the time axis are covered, partly covered or missing, and why. */
import type { PowerPoint } from "../api/types";
import { longestStep, type Interval } from "./lines";

export interface Stretch extends Interval { state: "covered" | "partial" | "gap" | "off" }

interface Input {
  from: number;
  to: number;
  bucketSeconds: number;
  /** Points of each drawn line. */
  lines: readonly (readonly PowerPoint[])[];
  /** Points of the sum, carrying how many devices were known; empty when there is none. */
  sum: readonly PowerPoint[];
  gaps: readonly Interval[];
  /** Before this time curves are no longer kept. */
  keptFrom: number;
  /** The life of what is drawn: before its first and after its last sample nothing can be missing. */
  life?: Life;
}

export interface Life { from: number | null; to: number | null; outside: "not_yet" | "not_running" }

/** Stretches in time order without overlap; they fill [from, to). A gap always wins over what the points suggest. */
export function stretches(input: Input): Stretch[] {
  const { from, to } = input;
  if (to <= from) return [];
  const step = longestStep(input.bucketSeconds);
  const bucket = input.bucketSeconds * 1000;
  const times = [...new Set(input.lines.flatMap((l) => l.map((p) => p[0])))].sort((a, b) => a - b).filter((t) => t >= from && t < to);
  const holes: Stretch[] = [];
  const hole = (a: number, b: number, cause: string, state: "gap" | "partial" = "gap", share?: number): void => {
    const lo = Math.max(a, from);
    const hi = Math.min(b, to);
    if (hi > lo) holes.push({ from: lo, to: hi, cause, state, ...(share === undefined ? {} : { share }) });
  };
  const off = (a: number, b: number, cause: string): void => {
    const hi = Math.min(b, to);
    if (hi > a) holes.push({ from: Math.max(a, from), to: hi, cause, state: "off" });
  };
  if (input.keptFrom > from) hole(from, input.keptFrom, "retention");
  for (const g of input.gaps) {
    const inside = times.some((t) => t + (input.bucketSeconds >= 30 ? bucket : 0) > g.from && t < g.to && (t >= g.from || input.lines.length > 1));
    hole(g.from, g.to, g.cause, g.cause === "unknown" && inside ? "partial" : "gap", g.share);
  }
  let last = Math.max(from, input.keptFrom);
  for (const t of times) {
    if (t - last > step && !listed(input.gaps, last, t)) hole(last === from || last === input.keptFrom ? last : last + bucket, t, "no_data");
    last = t;
  }
  if (to - last > step && !listed(input.gaps, last, to)) hole(times.length === 0 ? last : last + bucket, to, "no_data");
  const life = input.life;
  if (life && life.from !== null && life.from > from) off(from, life.from, life.outside);
  // A sample stands for the step up to the next one.
  if (life && life.to !== null && life.to + step < to) off(life.to, to, life.outside);
  // Where the server names a device's hole and its seconds, whole buckets of the sum would only widen it.
  if (!input.gaps.some((g) => g.key !== undefined || g.share !== undefined)) for (const run of partialRuns(input.sum, step)) hole(run.from, run.to + bucket, "partial", "partial");
  return paint(from, to, holes);
}

/** True when the server named a hole that explains most of (a, b). */
function listed(gaps: readonly Interval[], a: number, b: number): boolean {
  let covered = 0;
  for (const g of gaps) covered += Math.max(0, Math.min(g.to, b) - Math.max(g.from, a));
  return covered > 0.5 * (b - a);
}

function partialRuns(sum: readonly PowerPoint[], step: number): { from: number; to: number }[] {
  const out: { from: number; to: number }[] = [];
  let open: { from: number; to: number } | null = null;
  for (const [t, , , , known, total] of sum) {
    const partial = known !== undefined && total !== undefined && known < total;
    if (partial && open && t - open.to <= step) open.to = t;
    else if (partial) {
      if (open) out.push(open);
      open = { from: t, to: t };
    } else if (open) {
      out.push(open);
      open = null;
    }
  }
  if (open) out.push(open);
  return out;
}

/** Seconds of a strip by what the reader is told of them; with a single line there are no other devices. */
export interface Told { gaps: number; gapSeconds: number; unknownSeconds: number; partialSeconds: number }

export function told(strip: readonly Stretch[], single = false): Told {
  const out: Told = { gaps: 0, gapSeconds: 0, unknownSeconds: 0, partialSeconds: 0 };
  for (const s of strip) {
    // Near holes are drawn as one, but only the seconds without a value are told.
    const seconds = ((s.to - s.from) / 1000) * (s.share ?? 1);
    if (s.state === "partial" && !single) out.partialSeconds += seconds;
    else if (s.state === "partial" || (s.state === "gap" && s.cause === "unknown")) out.unknownSeconds += seconds;
    else if (s.state === "gap") {
      out.gaps += 1;
      out.gapSeconds += seconds;
    }
  }
  return out;
}

/** Flattens overlapping holes: not alive over gap over partial over covered. */
function paint(from: number, to: number, holes: readonly Stretch[]): Stretch[] {
  const edges = [...new Set([from, to, ...holes.flatMap((h) => [h.from, h.to])])].sort((a, b) => a - b);
  const out: Stretch[] = [];
  for (let i = 0; i + 1 < edges.length; i += 1) {
    const a = edges[i] ?? 0;
    const b = edges[i + 1] ?? 0;
    const over = holes.filter((h) => h.from <= a && h.to >= b);
    const of = (wanted: Stretch["state"]): Stretch[] => over.filter((h) => h.state === wanted);
    const same = [of("off"), of("gap"), over].find((list) => list.length > 0) ?? [];
    const top = same[0];
    const state = top?.state ?? "covered";
    const cause = top?.cause ?? "";
    // Devices that were unknown by turns: at least the longest, at most the whole.
    const share = top === undefined ? undefined : Math.max(...same.map((h) => h.share ?? 1));
    const previous = out[out.length - 1];
    if (previous && previous.state === state && previous.cause === cause) {
      if (share !== undefined) previous.share = ((previous.share ?? 1) * (previous.to - previous.from) + share * (b - a)) / (b - previous.from);
      previous.to = b;
    } else out.push({ from: a, to: b, state, cause, ...(share === undefined || share === 1 ? {} : { share }) });
  }
  return out;
}
