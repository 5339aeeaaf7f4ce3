/** uPlot behind one door: how the plot is set up and what is painted around the lines. */
import uPlot from "uplot";
import type { PowerPoint } from "../api/types";
import { kWatts, number, pick } from "../format/number";
import { clockText, dateText, parts, type Lang, type Zone } from "../format/time";
import { colourOf, type Aligned, type Line } from "./lines";
import { cssColour, kFont } from "./palette";

export const kAxisWidth = 58;
export const kRightPad = 14;

export interface Stroke { line: Line; points: readonly PowerPoint[]; thin: boolean; cuts?: ReadonlySet<number> }

/** What the hooks paint; replaced on every update, read at paint time. */
export interface Scene {
  strokes: readonly Stroke[];
  aligned: Aligned;
  hidden: ReadonlySet<string>;
  limits: readonly { watts: number; label: string }[];
  fold: readonly PowerPoint[];
  foldRuns: readonly [number, number][];
  from: number;
  to: number;
  bands: boolean;
}

/** Highest value to draw in the window, whole bands and limits included. */
export function ceiling(scene: Scene): number {
  let max = 0;
  const look = (points: readonly PowerPoint[]): void => {
    for (const p of points) if (p[0] >= scene.from && p[0] <= scene.to) max = Math.max(max, scene.bands ? p[3] : p[1]);
  };
  for (const s of scene.strokes) if (!scene.hidden.has(s.line.key)) look(s.points);
  look(scene.fold);
  for (const l of scene.limits) max = Math.max(max, l.watts);
  return max > 0 ? max * 1.06 : 1;
}

export interface PlotOptions {
  width: number;
  height: number;
  zone: Zone;
  lang: Lang;
  scene: () => Scene;
  onZoom: (from: number, to: number) => void;
  onReset: () => void;
  onCursor: (left: number | null) => void;
}

export function makePlot(host: HTMLElement, strokes: readonly Stroke[], o: PlotOptions): uPlot {
  const axis: Partial<uPlot.Axis> = {
    font: kFont,
    stroke: () => cssColour("--tw-text3"),
    grid: { stroke: () => cssColour("--tw-line"), width: 1 },
    ticks: { stroke: () => cssColour("--tw-line"), width: 1, size: 4 },
  };
  const options: uPlot.Options = {
    width: o.width,
    height: o.height,
    ms: 1,
    padding: [10, kRightPad, 0, 0],
    tzDate: (ts) => (o.zone === "utc" ? uPlot.tzDate(new Date(ts), "Etc/UTC") : new Date(ts)),
    legend: { show: false },
    cursor: {
      sync: { key: "page" },
      drag: { x: true, y: false, setScale: false },
      points: { size: 6 },
      bind: {
        dblclick: () => () => {
          o.onReset();
          return null;
        },
      },
    },
    scales: {
      x: { time: true, range: () => [o.scene().from, o.scene().to] },
      y: { range: () => [0, ceiling(o.scene())] },
    },
    axes: [
      { ...axis, size: 48, space: 64, values: (_u, splits) => xLabels(splits, o.zone, o.lang) },
      {
        ...axis,
        size: kAxisWidth,
        space: 34,
        values: (_u, splits) => {
          const [, factor] = pick(kWatts, ceiling(o.scene()));
          return splits.map((v) => axisNumber(v / factor));
        },
      },
    ],
    series: [
      {},
      ...strokes.map((s, k): uPlot.Series => ({
        label: s.line.label,
        stroke: () => cssColour(colourOf(s.line)),
        width: s.line.kind === "sum" ? (s.thin ? 1 : 2) : s.line.index >= 8 ? 1 : 1.5,
        ...(s.line.kind === "sum" ? { dash: [4, 4] } : s.line.kind === "estimate" ? { dash: [2, 3] } : {}),
        spanGaps: false,
        points: { show: true, size: 4, width: 0, fill: () => cssColour(colourOf(s.line)), filter: () => o.scene().aligned.lone[k] ?? [] },
      })),
    ],
    hooks: {
      drawAxes: [(u) => paintUnder(u, o.scene())],
      draw: [(u) => paintOver(u, o.scene())],
      setSelect: [(u) => {
        if (u.select.width < 4) return;
        const a = u.posToVal(u.select.left, "x");
        const b = u.posToVal(u.select.left + u.select.width, "x");
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        o.onZoom(Math.round(a), Math.round(b));
      }],
      setCursor: [(u) => o.onCursor((u.cursor.left ?? -1) >= 0 ? (u.cursor.left ?? null) : null)],
    },
  };
  return new uPlot(options, plotData(o.scene()), host);
}

export const plotData = (scene: Scene): uPlot.AlignedData => [scene.aligned.x, ...scene.aligned.y] as uPlot.AlignedData;

function axisNumber(v: number): string {
  return v === 0 ? "0" : Number.isInteger(v) ? v.toLocaleString("en-US") : number(v, 3).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

/** The clock, with the date under the first label and under each new day. */
function xLabels(splits: readonly number[], zone: Zone, lang: Lang): string[] {
  let day = -1;
  return splits.map((ms) => {
    const p = parts(ms, zone);
    const fresh = p.day !== day;
    day = p.day;
    return `${clockText(ms, zone)}\n${fresh ? dateText(ms, zone, lang) : " "}`;
  });
}

function clip(u: uPlot): void {
  u.ctx.beginPath();
  u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  u.ctx.clip();
}

function fillRuns(u: uPlot, points: readonly PowerPoint[], runs: readonly [number, number][], colour: string, alpha: number): void {
  const { ctx } = u;
  ctx.fillStyle = colour;
  ctx.globalAlpha = alpha;
  for (const [a, b] of runs) {
    if (b === a) continue;
    ctx.beginPath();
    for (let i = a; i <= b; i += 1) {
      const p = points[i];
      if (p) ctx.lineTo(u.valToPos(p[0], "x", true), u.valToPos(p[3], "y", true));
    }
    for (let i = b; i >= a; i -= 1) {
      const p = points[i];
      if (p) ctx.lineTo(u.valToPos(p[0], "x", true), u.valToPos(p[2], "y", true));
    }
    ctx.closePath();
    ctx.fill();
  }
  ctx.globalAlpha = 1;
}

function paintUnder(u: uPlot, scene: Scene): void {
  u.ctx.save();
  clip(u);
  fillRuns(u, scene.fold, scene.foldRuns, cssColour("--tw-sum"), 0.22);
  if (scene.bands) {
    scene.strokes.forEach((s, k) => {
      if (scene.hidden.has(s.line.key) || s.line.kind === "estimate" || s.line.kind === "sum") return;
      fillRuns(u, s.points, scene.aligned.runs[k] ?? [], cssColour(colourOf(s.line)), 0.18);
    });
  }
  u.ctx.restore();
}

function paintOver(u: uPlot, scene: Scene): void {
  const { ctx } = u;
  const dpr = uPlot.pxRatio;
  ctx.save();
  clip(u);
  ctx.font = kFont.replace("12px", `${12 * dpr}px`);
  ctx.textAlign = "right";
  for (const l of scene.limits) {
    const y = Math.round(u.valToPos(l.watts, "y", true)) + 0.5;
    ctx.strokeStyle = cssColour("--tw-text3");
    ctx.lineWidth = dpr;
    ctx.setLineDash([8 * dpr, 4 * dpr]);
    ctx.beginPath();
    ctx.moveTo(u.bbox.left, y);
    ctx.lineTo(u.bbox.left + u.bbox.width, y);
    ctx.stroke();
    ctx.setLineDash([]);
    const x = u.bbox.left + u.bbox.width - 4 * dpr;
    const w = ctx.measureText(l.label).width;
    ctx.fillStyle = cssColour("--tw-surface");
    ctx.globalAlpha = 0.85;
    // Under the line where there is no room above it.
    const above = y - 17 * dpr > u.bbox.top;
    ctx.textBaseline = above ? "bottom" : "top";
    ctx.fillRect(x - w - 3 * dpr, above ? y - 16 * dpr : y + 2 * dpr, w + 6 * dpr, 15 * dpr);
    ctx.globalAlpha = 1;
    ctx.fillStyle = cssColour("--tw-text2");
    ctx.fillText(l.label, x, above ? y - dpr : y + 3 * dpr);
  }
  ctx.restore();
}
