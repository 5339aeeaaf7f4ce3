/**
 * Numbers for people. Every function is total: whatever comes in, the text is a number with its unit or "—",
 * never "NaN", "undefined" or "[object Object]". A true zero is "0"; a non-zero value never prints as 0.
 */

export const kUnknown = "—";
export const kNbsp = "\u00a0";

/** The value when it is a finite number; null for everything else (unknown). */
export function known(x: unknown): number | null {
  return typeof x === "number" && Number.isFinite(x) ? x : null;
}

const cache = new Map<string, Intl.NumberFormat>();
function nf(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify(options);
  let f = cache.get(key);
  if (!f) {
    f = new Intl.NumberFormat("en-US", options);
    cache.set(key, f);
  }
  return f;
}

function minus(s: string): string {
  return s.replace("-", "−");
}

/** `digits` significant digits, integer part never cut: 12,345 · 412 · 41.2 · 4.12 · 0.0003 · <0.000001. */
export function number(x: unknown, digits = 3): string {
  const v = known(x);
  if (v === null) return kUnknown;
  if (v === 0) return "0";
  const a = Math.abs(v);
  if (a < 0.000001) return v < 0 ? ">−0.000001" : "<0.000001";
  if (Number(a.toPrecision(Math.max(digits, 1))) < 1) return minus(nf({ maximumSignificantDigits: digits, minimumSignificantDigits: 1 }).format(v));
  // Rounding may add a digit (9.996 -> 10.0): ask for the exponent of the rounded value.
  const exponent = Math.floor(Math.log10(Number(a.toPrecision(Math.max(digits, 1)))));
  const decimals = Math.max(0, digits - 1 - exponent);
  return minus(nf({ minimumFractionDigits: decimals, maximumFractionDigits: decimals }).format(v));
}

/** A count: grouped integer. */
export function count(x: unknown): string {
  const v = known(x);
  return v === null ? kUnknown : minus(nf({ maximumFractionDigits: 0 }).format(v));
}

export type Ladder = readonly (readonly [unit: string, factor: number])[];
export const kWatts: Ladder = [["W", 1], ["kW", 1e3], ["MW", 1e6], ["GW", 1e9]];
export const kEnergy: Ladder = [["kWh", 1], ["MWh", 1e3], ["GWh", 1e6]];
export const kMass: Ladder = [["kg", 1], ["t", 1e3], ["kt", 1e6]];

/** The unit of `ladder` for values up to `max`: the next one from 10,000 of the present one on. */
export function pick(ladder: Ladder, max: number | null): readonly [unit: string, factor: number] {
  let chosen = ladder[0] ?? ["", 1];
  for (const step of ladder) {
    const next = ladder[ladder.indexOf(step) + 1];
    chosen = step;
    if (!next || max === null || Math.abs(max) < 10_000 * step[1]) break;
  }
  return chosen;
}

/** The unit for a whole column or axis, so that it is printed once in the header. */
export function pickFor(ladder: Ladder, values: Iterable<unknown>): readonly [unit: string, factor: number] {
  let max: number | null = null;
  for (const v of values) {
    const k = known(v);
    if (k !== null && (max === null || Math.abs(k) > max)) max = Math.abs(k);
  }
  return pick(ladder, max);
}

export interface Quantity {
  readonly text: string; // "18.3"
  readonly unit: string; // "kW"; empty when unknown
}

export function quantity(x: unknown, ladder: Ladder, digits = 3): Quantity {
  const v = known(x);
  if (v === null) return { text: kUnknown, unit: "" };
  const [unit, factor] = pick(ladder, v);
  return { text: number(v / factor, digits), unit };
}

export function join(q: Quantity): string {
  return q.unit === "" ? q.text : `${q.text}${kNbsp}${q.unit}`;
}

export const watts = (x: unknown, digits = 3): string => join(quantity(x, kWatts, digits));
export const kwh = (x: unknown, digits = 3): string => join(quantity(x, kEnergy, digits));

/** The emitted gas as printed: "CO₂e", or "CO₂" when the factor counts carbon dioxide alone. */
export function gasName(gas: unknown): string {
  return gas === "co2" || gas === "CO2" ? "CO₂" : "CO₂e";
}

export function carbon(kg: unknown, gas: unknown, digits = 3): string {
  const q = quantity(kg, kMass, digits);
  return q.unit === "" ? q.text : `${join(q)}${kNbsp}${gasName(gas)}`;
}

/** A factor as published: every digit that came, at most 6 after the point. */
export function factor(value: unknown): string {
  const v = known(value);
  if (v === null) return kUnknown;
  return minus(nf({ maximumFractionDigits: 6, maximumSignificantDigits: 9 }).format(v));
}

/** A share of one as percent with 3 significant digits at most one decimal: 34% is "34.0%". */
export function percent(share: unknown): string {
  const v = known(share);
  if (v === null) return kUnknown;
  if (v === 0) return "0%";
  if (v === 1) return "100%";
  if (Math.abs(v) < 0.001) return v < 0 ? ">−0.1%" : "<0.1%";
  // A part never rounds up to the whole.
  const shown = v < 1 ? Math.min(v, 0.999) : v;
  return `${minus(nf({ minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(shown * 100))}%`;
}

/** Coverage is cut, not rounded: below "100%" until no second is missing or partial. */
export function coverage(c: unknown, missingSeconds: unknown = 0, partialSeconds: unknown = 0): string {
  const v = known(c);
  if (v === null) return kUnknown;
  if (v <= 0) return "0%";
  const whole = v >= 1 && (known(missingSeconds) ?? 0) <= 0 && (known(partialSeconds) ?? 0) <= 0;
  if (whole) return "100%";
  // 0.982 * 1000 is 981.9999...: the epsilon is far below a printed digit.
  const tenths = Math.min(999, Math.floor(v * 1000 + 1e-7));
  if (tenths === 0) return "<0.1%";
  return `${nf({ minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(tenths / 10)}%`;
}

/** True where energy was missed, so that the page must say that real energy is higher. */
export function coverageIsLow(c: unknown): boolean {
  const v = known(c);
  return v !== null && v < 0.99;
}

/** Decimal string of microjoules as BigInt; null when it is not one. */
export function microjoules(uj: unknown): bigint | null {
  if (typeof uj === "string" && /^-?\d{1,60}$/.test(uj)) return BigInt(uj);
  return null;
}

/** Exact microjoules, grouped: "1,234,567 µJ". */
export function exactMicrojoules(uj: unknown): string {
  const v = typeof uj === "bigint" ? uj : microjoules(uj);
  if (v === null) return kUnknown;
  return `${minus(new Intl.NumberFormat("en-US").format(v))}${kNbsp}µJ`;
}

const kMicrojoulesPerKwh = 3_600_000_000_000n;

/** kWh of exact microjoules; the division is the only inexact step. */
export function kwhOf(uj: unknown): number | null {
  const v = typeof uj === "bigint" ? uj : microjoules(uj);
  if (v === null) return null;
  return Number(v / kMicrojoulesPerKwh) + Number(v % kMicrojoulesPerKwh) / Number(kMicrojoulesPerKwh);
}

/** Sum of exact amounts; null when one of them is unknown. */
export function sumMicrojoules(all: Iterable<unknown>): bigint | null {
  let sum = 0n;
  for (const uj of all) {
    const v = typeof uj === "bigint" ? uj : microjoules(uj);
    if (v === null) return null;
    sum += v;
  }
  return sum;
}

export function bytes(x: unknown): string {
  const v = known(x);
  if (v === null) return kUnknown;
  if (v === 0) return `0${kNbsp}B`;
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let i = 0;
  let a = v;
  while (Math.abs(a) >= 1024 && i < units.length - 1) {
    a /= 1024;
    i += 1;
  }
  return `${number(a)}${kNbsp}${units[i] ?? "B"}`;
}
