/** Times for people: 24-hour clock, the zone always printed, the same zone on the whole page. */
import { kNbsp, kUnknown, known } from "./number";

export type Lang = "en" | "zh";
export type Zone = "browser" | "utc";

/** Milliseconds since the epoch; null for anything that is not a time. */
export function millis(t: unknown): number | null {
  if (typeof t === "number") return Number.isFinite(t) ? t : null;
  if (typeof t !== "string" || t === "") return null;
  const ms = Date.parse(t);
  return Number.isNaN(ms) ? null : ms;
}

export function ianaName(zone: Zone): string {
  return zone === "utc" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
}

interface Parts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: string;
  readonly minute: string;
  readonly second: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();
function format(key: string, make: () => Intl.DateTimeFormat): Intl.DateTimeFormat {
  let f = formats.get(key);
  if (!f) {
    f = make();
    formats.set(key, f);
  }
  return f;
}

export function parts(ms: number, zone: Zone): Parts {
  const f = format(`p${zone}`, () => new Intl.DateTimeFormat("en-GB", {
    timeZone: ianaName(zone), hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric",
    hour: "2-digit", minute: "2-digit", second: "2-digit",
  }));
  const got: Record<string, string> = {};
  for (const p of f.formatToParts(new Date(ms))) got[p.type] = p.value;
  return {
    year: Number(got["year"]), month: Number(got["month"]), day: Number(got["day"]),
    hour: got["hour"] ?? "", minute: got["minute"] ?? "", second: got["second"] ?? "",
  };
}

/** "UTC+8", "UTC−3:30", "UTC". */
export function zoneLabel(ms: number, zone: Zone): string {
  if (zone === "utc") return "UTC";
  const f = format("o", () => new Intl.DateTimeFormat("en-GB", { timeZone: ianaName(zone), timeZoneName: "shortOffset", hour: "2-digit" }));
  const name = f.formatToParts(new Date(ms)).find((p) => p.type === "timeZoneName")?.value ?? "UTC";
  return name.replace("GMT", "UTC").replace("-", "−");
}

const kMonths = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

export function dateText(t: unknown, zone: Zone, lang: Lang): string {
  const ms = millis(t);
  if (ms === null) return kUnknown;
  const p = parts(ms, zone);
  return lang === "zh" ? `${p.month}月${p.day}日` : `${p.day} ${kMonths[p.month - 1] ?? ""}`;
}

export function clockText(t: unknown, zone: Zone, seconds = false): string {
  const ms = millis(t);
  if (ms === null) return kUnknown;
  const p = parts(ms, zone);
  return seconds ? `${p.hour}:${p.minute}:${p.second}` : `${p.hour}:${p.minute}`;
}

/** "29 Nov 14:05 UTC+8" · "11月29日 14:05 UTC+8". */
export function timeText(t: unknown, zone: Zone, lang: Lang, seconds = false): string {
  const ms = millis(t);
  if (ms === null) return kUnknown;
  return `${dateText(ms, zone, lang)} ${clockText(ms, zone, seconds)} ${zoneLabel(ms, zone)}`;
}

/** "29 Nov 10:00 – 14:05 UTC+8": the date once when both ends share it. */
export function rangeText(from: unknown, to: unknown, zone: Zone, lang: Lang): string {
  const a = millis(from);
  const b = millis(to);
  if (a === null || b === null) return kUnknown;
  const sameDay = dateText(a, zone, lang) === dateText(b, zone, lang);
  const end = sameDay ? clockText(b, zone) : `${dateText(b, zone, lang)} ${clockText(b, zone)}`;
  return `${dateText(a, zone, lang)} ${clockText(a, zone)} – ${end} ${zoneLabel(b, zone)}`;
}

/** For the hover title: ISO in UTC. */
export function isoText(t: unknown): string {
  const ms = millis(t);
  return ms === null ? kUnknown : new Date(ms).toISOString().replace(".000Z", "Z");
}

/** "3 h 20 min" · "3 小时 20 分"; two units at most. */
export function durationText(seconds: unknown, lang: Lang): string {
  const v = known(seconds);
  if (v === null) return kUnknown;
  const s = Math.abs(v);
  const sign = v < 0 ? "−" : "";
  const unit = lang === "zh" ? { d: "天", h: "小时", m: "分", s: "秒", ms: "毫秒" } : { d: "d", h: "h", m: "min", s: "s", ms: "ms" };
  const one = (n: number, u: string): string => `${n}${kNbsp}${u}`;
  if (s === 0) return one(0, unit.s);
  if (s < 1) return `${sign}${one(Math.max(1, Math.round(s * 1000)), unit.ms)}`;
  if (s < 60) return `${sign}${one(Math.floor(s), unit.s)}`;
  const whole = Math.floor(s);
  const d = Math.floor(whole / 86_400);
  const h = Math.floor((whole % 86_400) / 3600);
  const m = Math.floor((whole % 3600) / 60);
  const rest = whole % 60;
  const two = (a: string, n: number, u: string): string => `${sign}${a}${n > 0 ? ` ${one(n, u)}` : ""}`;
  if (d > 0) return two(one(d, unit.d), h, unit.h);
  if (h > 0) return two(one(h, unit.h), m, unit.m);
  return two(one(m, unit.m), rest, unit.s);
}

/** One unit, for narrow cells: "11 min", "3 h". */
export function shortDuration(seconds: unknown, lang: Lang): string {
  const v = known(seconds);
  if (v === null) return kUnknown;
  const s = Math.max(0, v);
  const step = s < 60 ? 1 : s < 3600 ? 60 : s < 86_400 ? 3600 : 86_400;
  return durationText(Math.floor(s / step) * step, lang);
}

/** "4 min ago" · "4 分前"; stands beside a time, never instead of it. */
export function ageText(t: unknown, nowMs: number, lang: Lang): string {
  const ms = millis(t);
  if (ms === null) return kUnknown;
  const s = Math.max(0, Math.floor((nowMs - ms) / 1000));
  return lang === "zh" ? `${shortDuration(s, lang)}前` : `${shortDuration(s, lang)} ago`;
}
