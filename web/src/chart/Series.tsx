/**
 * The one chart of watts over time. Made once per set of lines, then fed: a refresh keeps zoom, pinned tooltip and
 * hidden lines, and waits while the pointer is inside.
 */
import { useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { usePrefs } from "../app/prefs";
import { setQuery, useQueryValue } from "../app/router";
import { kUnknown, kWatts, known, number, pick, pickFor } from "../format/number";
import { useWords } from "../i18n";
import { ChartTable } from "./ChartTable";
import { stretches, told, type Life } from "./cover";
import { align, envelope, finding, fold, glyphOf, colourOf, lastAtOrBefore, longestStep, runsOf, breaksOf, splitSum, type Interval, type Line } from "./lines";
import { ceiling, kAxisWidth, kRightPad, makePlot, plotData, type Scene, type Stroke } from "./plot";
import { Strip } from "./Strip";

export interface SeriesData {
  lines: readonly Line[];
  gaps: readonly (Interval & { nodeId: string })[];
  bucketSeconds: number;
  downsampled: boolean;
  /** Window of the time axis, ms. */
  from: number;
  to: number;
  keptFrom: number;
}

interface SeriesProps extends SeriesData {
  /** Names the chart in the address: hidden and pinned lines. */
  id: string;
  title: (unit: string) => string;
  badges?: ReactNode;
  note?: ReactNode;
  height?: number;
  zoomed: boolean;
  /** The answer for this window is still on its way; a coarser one is shown. */
  pending?: boolean;
  onZoom: (w: { from: number; to: number } | null) => void;
  /** When what is drawn came to be and ended. */
  life?: Life;
  /** The ledger bridged unknown power by a counter: nothing is missing in the total. */
  bridged?: boolean;
  /** Changes when the data belong to something else, so that nothing old stays on screen. */
  identity: string;
}

interface Tip { t: number; left: number }

export function Series(props: SeriesProps): JSX.Element {
  const { id, title, badges, note, height = 230, zoomed, pending = false, onZoom, life, bridged = false, identity } = props;
  const { t, lang, zone, time, clock, duration } = useWords();
  const { themeVersion } = usePrefs();
  const captionId = useId();
  const [view] = useQueryValue("view");
  const [hide, setHide] = useQueryValue(`hide.${id}`);
  const [dev, setDev] = useQueryValue(`dev.${id}`);
  const [showLimits, setShowLimits] = useState(true);
  const [sumShown, setSumShown] = useQueryValue(`sum.${id}`);
  // Beside devices of a tenth of it the sum would flatten them: it is drawn when asked for.
  const sumKey = props.lines.length > 2 ? props.lines.find((l) => l.kind === "sum")?.key : undefined;
  const hidden = useMemo(() => new Set([...(hide === "" ? [] : hide.split(",")), ...(sumKey !== undefined && sumShown !== "on" ? [sumKey] : [])]), [hide, sumKey, sumShown]);
  const pinnedLines = useMemo(() => (dev === "" ? [] : dev.split(",")), [dev]);

  // Data on screen: the newest, unless the reader is looking at a point of it.
  const incoming = useMemo<SeriesData>(() => ({ lines: props.lines, gaps: props.gaps, bucketSeconds: props.bucketSeconds, downsampled: props.downsampled, from: props.from, to: props.to, keptFrom: props.keptFrom }),
    [props.lines, props.gaps, props.bucketSeconds, props.downsampled, props.from, props.to, props.keptFrom]);
  const [held, setHeld] = useState<{ data: SeriesData; identity: string }>({ data: incoming, identity });
  const [waiting, setWaiting] = useState(0);
  const busy = useRef(false);
  const pressedAt = useRef(0);
  const latest = useRef(incoming);
  latest.current = incoming;
  const window = zoomed ? `${props.from}-${props.to}` : "";
  const lastWindow = useRef(window);
  const following = useRef(false);
  useEffect(() => {
    // A zoom is the reader's own wish: it never waits for the pointer to leave.
    if (lastWindow.current !== window) following.current = true;
    lastWindow.current = window;
    const follow = following.current;
    if (!pending) following.current = false;
    if (!follow && busy.current && held.identity === identity) {
      if (held.data !== incoming) setWaiting((n) => n + 1);
      return;
    }
    setHeld({ data: incoming, identity });
    setWaiting(0);
  }, [incoming, identity, window, pending]);
  const release = useCallback(() => {
    setHeld((h) => (h.data === latest.current ? h : { ...h, data: latest.current }));
    setWaiting(0);
  }, []);
  const data = held.identity === identity ? held.data : incoming;

  const folded = useMemo(() => fold(data.lines, pinnedLines), [data.lines, pinnedLines]);
  const step = longestStep(data.bucketSeconds);
  const gapsOf = useCallback((line: Line) => data.gaps.filter((g) => (g.key === undefined ? g.nodeId === line.nodeId : g.key === line.key)), [data.gaps]);

  const strokes = useMemo<Stroke[]>(() => folded.shown.flatMap((line): Stroke[] => {
    if (line.kind !== "sum") return [{ line, points: line.points, thin: false }];
    const s = splitSum(line.points);
    return [{ line, points: s.whole, thin: false, cuts: s.wholeCuts }, { line, points: s.partial, thin: true, cuts: s.partialCuts }];
  }), [folded]);
  const limits = useMemo(() => {
    const all = new Set(folded.shown.filter((l) => l.limit !== null && !hidden.has(l.key)).map((l) => l.limit ?? 0));
    return showLimits ? [...all].map((w) => ({ watts: w, label: t("chart.limit", { w: number(w) }) })) : [];
  }, [folded, hidden, showLimits, t]);
  const scene = useMemo<Scene>(() => {
    const foldPoints = envelope(folded.rest);
    return {
      strokes, hidden, limits, from: data.from, to: data.to, bands: data.downsampled,
      aligned: align(strokes.map((s) => ({ points: s.points, gaps: s.thin ? [] : gapsOf(s.line), ...(s.cuts ? { cuts: s.cuts } : {}) })), step),
      fold: foldPoints,
      foldRuns: runsOf(foldPoints.length, breaksOf(foldPoints, data.gaps.filter((g) => g.key === undefined && g.nodeId === folded.rest[0]?.nodeId), step)),
    };
  }, [strokes, hidden, limits, data, folded, gapsOf, step]);

  const strip = useMemo(() => stretches({ from: data.from, to: data.to, bucketSeconds: data.bucketSeconds, gaps: data.gaps.filter((g) => g.key === undefined || data.lines.some((l) => l.key === g.key)), keptFrom: data.keptFrom, lines: data.lines.filter((l) => l.kind !== "sum").map((l) => l.points), sum: data.lines.find((l) => l.kind === "sum")?.points ?? [], ...(life ? { life } : {}) }), [data, life?.from, life?.to, life?.outside]);

  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const sceneRef = useRef(scene);
  sceneRef.current = scene;
  const zoomRef = useRef(onZoom);
  zoomRef.current = onZoom;
  const [width, setWidth] = useState(0);
  const [tip, setTip] = useState<Tip | null>(null);
  const [pin, setPin] = useState<number | null>(null);

  useLayoutEffect(() => {
    const el = host.current;
    if (!el) return undefined;
    const measure = (): void => setWidth(Math.floor(el.clientWidth));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(el);
    return () => watch.disconnect();
  }, [view]);

  const shape = strokes.map((s) => `${s.line.key}/${s.thin ? 1 : 0}`).join(" ");
  const empty = data.lines.every((l) => l.points.length === 0);
  const drawn = view !== "table" && width > 0 && !empty;
  useEffect(() => {
    const el = host.current;
    if (!el || !drawn) return undefined;
    const u = makePlot(el, sceneRef.current.strokes, {
      width, height, zone, lang, scene: () => sceneRef.current,
      onZoom: (from, to) => zoomRef.current({ from, to }),
      onReset: () => zoomRef.current(null),
      onCursor: (left) => setTip(left === null || !plot.current || !busy.current ? null : { t: plot.current.posToVal(left, "x"), left }),
    });
    u.root.querySelector("canvas")?.setAttribute("role", "img");
    u.root.querySelector("canvas")?.setAttribute("aria-describedby", captionId);
    plot.current = u;
    return () => {
      u.destroy();
      plot.current = null;
    };
    // Size, data and colours are fed below without making the plot anew.
  }, [shape, zone, lang, drawn]);
  useEffect(() => {
    if (width > 0) plot.current?.setSize({ width, height });
  }, [width, height]);
  useEffect(() => {
    const u = plot.current;
    if (!u) return;
    u.batch(() => {
      u.setData(plotData(scene), false);
      scene.strokes.forEach((s, k) => {
        const show = !scene.hidden.has(s.line.key);
        if (u.series[k + 1]?.show !== show) u.setSeries(k + 1, { show });
      });
      u.setScale("x", { min: scene.from, max: scene.to });
    });
    u.redraw(false, true);
  }, [scene, themeVersion, shape, zone, lang, drawn]);

  const [unit, factor] = pick(kWatts, ceiling(scene));
  const headline = data.lines.find((l) => l.kind === "sum") ?? data.lines[0];
  const found = finding(headline?.points ?? [], data.from, data.to);
  const tale = told(strip, data.lines.length === 1);
  const holes = [
    tale.gaps > 0 || tale.unknownSeconds + tale.partialSeconds === 0 ? t("chart.caption.gaps", { n: tale.gaps, d: duration(tale.gapSeconds) }) : null,
    tale.unknownSeconds > 0 ? t(bridged ? "coverage.bridged" : "coverage.unknown", { d: duration(tale.unknownSeconds) }) : null,
    tale.partialSeconds > 0 ? t(bridged ? "coverage.partly_bridged" : "coverage.partly", { d: duration(tale.partialSeconds) }) : null,
  ].filter((x) => x !== null).join(t("word.comma"));
  const [capUnit, capFactor] = pickFor(kWatts, [found.mean, found.peak]);
  const inUnit = (w: number | null): string => (known(w) === null ? kUnknown : number((w ?? 0) / capFactor));
  const sentence = t("chart.caption", { mean: inUnit(found.mean), peak: `${inUnit(found.peak)}\u00a0${capUnit}`, time: clock(found.peakAt), gaps: holes });
  const caption = found.mean === null ? t("chart.caption.none") : headline && data.lines.length > 1 ? t("word.labelled", { what: headline.label, text: sentence }) : sentence;

  const toggle = (key: string): void => {
    if (key === sumKey) {
      setSumShown(sumShown === "on" ? "" : "on");
      return;
    }
    const next = new Set(hidden);
    if (next.has(key)) next.delete(key);
    else next.add(key);
    setHide([...next].filter((k) => k !== sumKey).join(","));
  };
  const isolate = (key: string): void => {
    const others = folded.shown.map((l) => l.key).filter((k) => k !== key);
    const alone = others.every((k) => hidden.has(k)) && !hidden.has(key);
    setHide(alone ? "" : others.filter((k) => k !== sumKey).join(","));
    setSumShown(key === sumKey && !alone ? "on" : "");
  };
  const keys = (e: KeyboardEvent<HTMLDivElement>): void => {
    if (e.key === "Escape" && pin !== null) {
      e.stopPropagation();
      setPin(null);
    } else if ((e.key === "ArrowLeft" || e.key === "ArrowRight") && !empty) {
      e.preventDefault();
      const x = scene.aligned.x;
      const at = pin ?? x[x.length - 1] ?? data.to;
      let i = x.findIndex((v) => v >= at);
      if (i < 0) i = x.length - 1;
      const next = x[Math.max(0, Math.min(x.length - 1, i + (e.key === "ArrowLeft" ? -1 : 1)))];
      if (next !== undefined) setPin(next);
    }
  };
  const pickDevice = (key: string): void => {
    const shown = folded.shown.filter((l) => l.kind === "device").map((l) => l.key);
    const now = pinnedLines.length > 0 ? pinnedLines : shown;
    const next = now.includes(key) ? now.filter((k) => k !== key) : [...now.slice(now.length >= 8 ? 1 : 0), key];
    setDev(next.join(","));
  };

  const at = pin ?? tip?.t ?? null;
  const left = at === null || !plot.current ? 0 : plot.current.valToPos(at, "x") + kAxisWidth;
  return (
    <figure className="card chart" aria-labelledby={captionId} data-chart={id} data-bucket={data.bucketSeconds} data-window={`${data.from}-${data.to}`}>
      <div className="card-head">
        <h2>{title(unit)}</h2>
        {badges}
        <span className="grow" />
        {waiting > 0 && <button type="button" className="pill" onClick={release}>{t("chart.new", { n: waiting })}</button>}
        {zoomed && <button type="button" className="button small" onClick={() => onZoom(null)}>{t("chart.reset")}</button>}
        {sumKey !== undefined && (
          <label className="check"><input type="checkbox" checked={!hidden.has(sumKey)} onChange={() => toggle(sumKey)} />{t("chart.sum")}</label>
        )}
        {folded.shown.some((l) => l.limit !== null) && (
          <label className="check"><input type="checkbox" checked={showLimits} onChange={(e) => setShowLimits(e.target.checked)} />{t("chart.limits")}</label>
        )}
        <button type="button" className="button small" aria-pressed={view === "table"} onClick={() => setQuery({ view: view === "table" ? "" : "table" })}>{view === "table" ? t("chart.chart") : t("chart.table")}</button>
      </div>
      {(data.lines.length > 1 || folded.rest.length > 0) && (
        <div className="legend" title={t("chart.legend.hint")}>
          {folded.shown.map((l) => (
            <button key={l.key} type="button" aria-pressed={!hidden.has(l.key)} className={hidden.has(l.key) ? "off" : ""} onClick={() => toggle(l.key)} onDoubleClick={() => isolate(l.key)} data-index={l.index}>
              <span className={`glyph ${colourOf(l).slice(5)}`} aria-hidden="true">{glyphOf(l)}</span>
              {l.label}
            </button>
          ))}
          {data.downsampled && <span className="legend-note">{t("chart.band")}</span>}
          {folded.rest.length > 0 && <span className="legend-note"><span className="glyph sum" aria-hidden="true">▒</span> {t("chart.fold", { n: folded.rest.length })}</span>}
        </div>
      )}
      {folded.rest.length > 0 && (
        <div className="chips" role="group" aria-label={t("chart.fold.title")}>
          <span>{t("chart.fold.title")}</span>
          {data.lines.filter((l) => l.kind === "device").map((l) => {
            const on = folded.shown.includes(l);
            return <button key={l.key} type="button" className={on ? "chip on" : "chip"} aria-pressed={on} onClick={() => pickDevice(l.key)}>{l.index}</button>;
          })}
        </div>
      )}
      {view === "table" ? (
        <ChartTable lines={data.lines} unit={unit} factor={factor} name={`tidewatt-${id}`} />
      ) : (
        <div className="plot-wrap">
          <div
            ref={host} className="plot" style={empty ? undefined : { height }} tabIndex={0} role="group" aria-describedby={captionId}
            onKeyDown={keys}
            onPointerDown={(e) => { pressedAt.current = e.clientX; }}
            onPointerEnter={() => { busy.current = true; }}
            onPointerLeave={() => { busy.current = pin !== null; setTip(null); if (pin === null) release(); }}
            onClick={(e) => { if (tip && Math.abs(e.clientX - pressedAt.current) < 4) setPin(pin === null ? tip.t : null); }}
          >
            {empty && <div className="message empty">{t("chart.no_data")}</div>}
          </div>
          {at !== null && !empty && (
            <Tooltip t0={at} left={left} width={width} scene={scene} factor={factor} unit={unit} tolerance={Math.max(30_000, data.bucketSeconds * 750)} pinned={pin !== null} title={time(at, data.bucketSeconds < 60)} bands={data.downsampled} />
          )}
        </div>
      )}
      <Strip stretches={strip} from={data.from} to={data.to} width={width - kAxisWidth - kRightPad} />
      <figcaption id={captionId}>
        <span>{caption}</span>
        <span className="dim">{data.downsampled ? t("chart.bucket", { d: duration(data.bucketSeconds) }) : t("chart.raw", { d: duration(data.bucketSeconds) })}</span>
        {note}
      </figcaption>
    </figure>
  );
}

interface TooltipProps { t0: number; left: number; width: number; scene: Scene; factor: number; unit: string; tolerance: number; pinned: boolean; title: string; bands: boolean }

function Tooltip({ t0, left, width, scene, factor, unit, tolerance, pinned, title, bands }: TooltipProps): JSX.Element {
  const { t } = useWords();
  const seen = new Set<string>();
  const rows = scene.strokes.filter((s) => !scene.hidden.has(s.line.key) && !seen.has(s.line.key) && seen.add(s.line.key));
  const flip = left > width * 0.6;
  return (
    <div className={flip ? "tip flip" : "tip"} style={flip ? { right: width - left + 12 } : { left: left + 12 }} role="status" aria-live="off">
      <div className="tip-title">{title}</div>
      {rows.map(({ line }) => {
        const i = lastAtOrBefore(line.points, t0);
        const near = [line.points[i], line.points[i + 1]].filter((p) => p !== undefined && Math.abs(p[0] - t0) <= tolerance).sort((a, b) => Math.abs((a?.[0] ?? 0) - t0) - Math.abs((b?.[0] ?? 0) - t0))[0];
        const partial = near && near[4] !== undefined && near[5] !== undefined && near[4] < near[5];
        return (
          <div key={line.key} className="tip-row">
            <span className={`glyph ${colourOf(line).slice(5)}`} aria-hidden="true">{glyphOf(line)}</span>
            <span className="tip-label">{line.label}</span>
            <span className="num">{near ? `${line.kind === "estimate" ? "≈ " : ""}${number(near[1] / factor, 4)}\u00a0${unit}` : "—"}</span>
            <span className="num dim">{near && bands && near[3] > near[2] ? `${number(near[2] / factor)}–${number(near[3] / factor)}` : ""}{partial ? t("chart.known_of", { known: near[4] ?? 0, total: near[5] ?? 0 }) : ""}</span>
          </div>
        );
      })}
      {pinned && <div className="dim">{t("chart.pinned")}</div>}
    </div>
  );
}
