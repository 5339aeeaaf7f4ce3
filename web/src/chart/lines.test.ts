import { describe, expect, it } from "vitest";
import type { PowerPoint } from "../api/types";
import { stretches, told } from "./cover";
import { align, breaksOf, colourOf, envelope, finding, fold, glyphOf, runsOf, splitSum, type Line, parseGaps } from "./lines";

const p = (t: number, w = 100): PowerPoint => [t, w, w, w];
const every20s = (from: number, to: number): PowerPoint[] => Array.from({ length: (to - from) / 20_000 }, (_, i) => p(from + i * 20_000));
const device = (index: number, points: PowerPoint[] = [p(0)]): Line => ({ key: `n/gpu/${index}`, label: `GPU ${index}`, kind: "device", index, nodeId: "n", points, limit: null });

describe("a gap is a break", () => {
  it("between points further apart than the sampling allows", () => {
    expect([...breaksOf([p(0), p(20_000), p(100_000)], [], 60_000)]).toEqual([1]);
  });
  it("at a reported hole even when down-sampled points are close", () => {
    const points = [p(0), p(300_000), p(600_000)];
    expect([...breaksOf(points, [{ from: 320_000, to: 400_000, cause: "no_data" }], 750_000)]).toEqual([1]);
  });
  it("but not at a hole of another device", () => {
    const points = every20s(0, 600_000);
    expect(breaksOf(points, [{ from: 100_000, to: 200_000, cause: "unknown" }], 60_000).size).toBe(0);
  });
  it("but does at a hole of its own, however short", () => {
    const points = every20s(0, 100_000);
    expect([...breaksOf(points, [{ from: 41_000, to: 55_000, cause: "unknown", key: "n/gpu/0" }], 60_000)]).toEqual([2]);
  });
  it("drawn as exactly one null at the gap's start", () => {
    const a = align([{ points: [p(0), p(20_000), p(700_000)], gaps: [{ from: 30_000, to: 690_000, cause: "no_data" }] }], 60_000);
    expect(a.x).toEqual([0, 20_000, 30_000, 700_000]);
    expect(a.y[0]).toEqual([100, 100, null, 100]);
  });
  it("drawn as null at every time that only other lines have", () => {
    const a = align([{ points: [p(0), p(20_000), p(200_000)], gaps: [] }, { points: every20s(0, 220_000), gaps: [] }], 60_000);
    const row = a.y[0] ?? [];
    expect(a.x.map((t, i) => (t > 20_000 && t < 200_000 ? row[i] : null)).every((v) => v === null)).toBe(true);
    expect(row[a.x.indexOf(200_000)]).toBe(100);
  });
  it("and never NaN: a value that is not a number breaks the line", () => {
    const a = align([{ points: [p(0), p(20_000, NaN), p(40_000)], gaps: [] }], 60_000);
    expect(a.y[0]).toEqual([100, null, 100]);
  });
});

describe("alignment", () => {
  it("leaves undefined where a line has no sample at another line's time", () => {
    const a = align([{ points: [p(0), p(20_000)], gaps: [] }, { points: [p(10_000), p(30_000)], gaps: [] }], 60_000);
    expect(a.y[0]).toEqual([100, undefined, 100, undefined]);
    expect(a.y[1]).toEqual([undefined, 100, undefined, 100]);
  });
  it("finds points that stand alone", () => {
    const a = align([{ points: [p(0), p(200_000), p(400_000), p(420_000)], gaps: [] }], 60_000);
    expect(a.lone[0]?.map((i) => a.x[i])).toEqual([0, 200_000]);
  });
  it("cuts runs at breaks", () => {
    expect(runsOf(5, new Set([1]))).toEqual([[0, 1], [2, 4]]);
    expect(runsOf(0, new Set())).toEqual([]);
  });
});

describe("more than eight devices", () => {
  const sixteen = Array.from({ length: 16 }, (_, i) => device(i));
  it("draws the first eight indices and folds the others", () => {
    const f = fold(sixteen, []);
    expect(f.shown.map((l) => l.index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(f.rest).toHaveLength(8);
  });
  it("lets the reader pin others, whose colour does not change", () => {
    const f = fold(sixteen, ["n/gpu/11"]);
    expect(f.shown.map((l) => l.index)).toEqual([11]);
    expect(colourOf(f.shown[0] ?? device(0))).toBe("--tw-dev3");
    expect(glyphOf(device(11))).toBe(glyphOf(device(3)));
  });
  it("keeps the sum out of the count", () => {
    expect(fold([...sixteen, { ...device(-1), kind: "sum" }], []).shown).toHaveLength(9);
    expect(colourOf({ kind: "sum", index: -1 })).toBe("--tw-sum");
  });
  it("spans the folded ones from least to most", () => {
    expect(envelope([device(8, [[0, 5, 4, 6]]), device(9, [[0, 9, 8, 12], [1, 1, 1, 1]])])).toEqual([[0, 5, 4, 12], [1, 1, 1, 1]]);
  });
});

it("splits the sum where devices were unknown", () => {
  const s = splitSum([[0, 1, 1, 1, 8, 8], [1, 1, 1, 1, 7, 8], [2, 1, 1, 1, 8, 8], [3, 1, 1, 1, 8, 8]]);
  expect(s.whole.map((x) => x[0])).toEqual([0, 2, 3]);
  expect(s.partial.map((x) => x[0])).toEqual([0, 1, 2]);
});

it("never joins two partial stretches over a whole one, nor the whole over a partial one", () => {
  const s = splitSum([[0, 1, 1, 1, 7, 8], [1, 1, 1, 1, 8, 8], [2, 1, 1, 1, 8, 8], [3, 1, 1, 1, 7, 8], [4, 1, 1, 1, 8, 8]]);
  expect(s.partial.map((x) => x[0])).toEqual([0, 1, 2, 3, 4]);
  expect([...s.partialCuts]).toEqual([1, 4]);
  expect(s.whole.map((x) => x[0])).toEqual([1, 2, 4]);
  expect([...s.wholeCuts]).toEqual([1]);
  const a = align([{ points: s.partial, gaps: [], cuts: s.partialCuts }], 60_000);
  expect(a.runs[0]).toEqual([[0, 1], [2, 4]]);
});

it("reports mean and the kept peak, and nothing for no points", () => {
  expect(finding([[0, 10, 5, 20], [1, 30, 25, 31]], 0, 10)).toEqual({ mean: 20, peak: 31, peakAt: 1 });
  expect(finding([], 0, 10)).toEqual({ mean: null, peak: null, peakAt: null });
});

describe("coverage strip", () => {
  const base = { from: 0, to: 600_000, bucketSeconds: 20, sum: [], gaps: [], keptFrom: 0 };
  it("is covered where points are close", () => {
    expect(stretches({ ...base, lines: [every20s(0, 600_000)] })).toEqual([{ from: 0, to: 600_000, state: "covered", cause: "" }]);
  });
  it("hatches what the server names and what the points show", () => {
    const s = stretches({ ...base, lines: [[...every20s(0, 200_000), ...every20s(400_000, 500_000)]], gaps: [{ from: 200_000, to: 400_000, cause: "no_data" }] });
    expect(s.map((x) => [x.from, x.to, x.state])).toEqual([[0, 200_000, "covered"], [200_000, 400_000, "gap"], [400_000, 500_000, "covered"], [500_000, 600_000, "gap"]]);
  });
  it("is one gap when there is no point at all", () => {
    expect(stretches({ ...base, lines: [[]] })).toEqual([{ from: 0, to: 600_000, state: "gap", cause: "no_data" }]);
  });
  it("is partial where only some devices answered", () => {
    const sum = every20s(0, 600_000).map(([t, m, a, b]): PowerPoint => [t, m, a, b, t >= 100_000 && t < 200_000 ? 7 : 8, 8]);
    const s = stretches({ ...base, lines: [every20s(0, 600_000)], sum });
    expect(s.map((x) => [x.from, x.to, x.state])).toEqual([[0, 100_000, "covered"], [100_000, 200_000, "partial"], [200_000, 600_000, "covered"]]);
  });
  it("is empty outside the life of what is drawn, and counts no gap there", () => {
    const s = stretches({ ...base, lines: [every20s(200_000, 400_000)], life: { from: 200_000, to: 380_000, outside: "not_running" } });
    expect(s.map((x) => [x.from, x.to, x.state])).toEqual([[0, 200_000, "off"], [200_000, 380_000, "covered"], [380_000, 600_000, "off"]]);
    expect(told(s)).toEqual({ gaps: 0, gapSeconds: 0, unknownSeconds: 0, partialSeconds: 0 });
  });
  it("tells unknown power and missing data apart", () => {
    const s = stretches({ ...base, lines: [[...every20s(0, 200_000), ...every20s(300_000, 500_000)]], gaps: [{ from: 200_000, to: 300_000, cause: "unknown" }, { from: 500_000, to: 600_000, cause: "no_data" }] });
    expect(told(s)).toEqual({ gaps: 1, gapSeconds: 100, unknownSeconds: 100, partialSeconds: 0 });
  });
  it("tells the seconds without a value, not the holes as they are drawn", () => {
    const lines = [every20s(0, 600_000), every20s(0, 600_000)];
    const one = { cause: "unknown", nodeId: "n", key: "a" };
    const s = stretches({ ...base, lines, gaps: [{ ...one, from: 100_000, to: 300_000, share: 0.1 }] });
    expect(s.map((x) => [x.from, x.to, x.state])).toEqual([[0, 100_000, "covered"], [100_000, 300_000, "partial"], [300_000, 600_000, "covered"]]);
    expect(told(s).partialSeconds).toBeCloseTo(20);
    // Two devices at once: at least the longer of them.
    const both = stretches({ ...base, lines, gaps: [{ ...one, from: 100_000, to: 300_000, share: 0.1 }, { ...one, key: "b", from: 200_000, to: 300_000, share: 0.5 }] });
    expect(told(both).partialSeconds).toBeCloseTo(10 + 50);
    const half = stretches({ ...base, to: 200_000, lines, gaps: [{ ...one, from: 100_000, to: 300_000, share: 0.1 }] });
    expect(told(half).partialSeconds).toBeCloseTo(10);
  });
  it("reads the seconds of a hole as its share", () => {
    const at = (s: number): string => new Date(s * 1000).toISOString();
    expect(parseGaps([{ from: at(0), to: at(100), cause: "unknown", node_id: "n", key: "k", seconds: 20 }])[0]).toMatchObject({ share: 0.2 });
    expect(parseGaps([{ from: at(0), to: at(100), cause: "unknown", node_id: "n" }])[0]).not.toHaveProperty("share");
  });
  it("says when curves are no longer kept", () => {
    expect(stretches({ ...base, keptFrom: 300_000, lines: [every20s(300_000, 600_000)] })[0]).toMatchObject({ from: 0, to: 300_000, state: "gap", cause: "retention" });
  });
});
