import { expect, it } from "vitest";
import { en } from "../i18n/en";
import { formatMessage } from "../i18n/icu";
import { bars, sumOf } from "./HourBars";

const hour = (h: number, kwh: number | null) => ({
  hour: new Date(Date.UTC(2026, 10, 29, h)).toISOString(), energy_kwh: kwh, energy_uj: kwh === null ? null : `${BigInt(kwh) * 3_600_000_000_000n + 1n}`,
  coverage: kwh === null ? null : 1, covered_seconds: kwh === null ? null : 3600, gap_seconds: kwh === null ? null : 0, partial_seconds: kwh === null ? null : 20,
});

it("tells hours without data from hours before the first sample, and counts both out", () => {
  const since = Date.UTC(2026, 10, 29, 2, 30);
  const list = bars([hour(0, null), hour(1, null), hour(2, 4), hour(3, null), hour(4, 5)], "utc", since);
  expect(list.map((b) => [b.missing, b.early])).toEqual([[0, 1], [0, 1], [0, 0], [1, 0], [0, 0]]);
  expect(list[2]).toMatchObject({ gap: 0, partial: 20 });
});

it("keeps these counts when hours become days", () => {
  const many = Array.from({ length: 60 }, (_, h) => hour(h, h < 30 ? null : 1));
  const list = bars(many, "utc", Date.UTC(2026, 10, 30, 6));
  expect(list.reduce((s, b) => s + b.early, 0)).toBe(30);
  expect(list.reduce((s, b) => s + b.missing, 0)).toBe(0);
  expect(list.reduce((s, b) => s + b.partial, 0)).toBe(600);
});

it("names no number of hours that it then contradicts", () => {
  const text = formatMessage(en["dash.hourly.caption"], { sum: "9 kWh", n: 2, max: "5 kWh", time: "04:00 UTC", without: "; 1 hour without data" }, "en");
  expect(text).toBe("9 kWh in 2 hours with data, most 5 kWh from 04:00 UTC; 1 hour without data. Whole UTC hours.");
});

it("divides a day's seconds as its total does: no mean of percentages, and hours before the first sample are not missed", () => {
  const many = Array.from({ length: 60 }, (_, h) => hour(h, h < 30 ? null : 1));
  const [first, second] = bars(many, "utc", Date.UTC(2026, 10, 30, 6));
  expect(first?.coverage).toBeNull();
  expect(second?.coverage).toBe(1);
  const silent = { ...hour(59, null), coverage: 0, covered_seconds: 0, gap_seconds: 3600 };
  expect(bars([...many.slice(0, 59), silent], "utc").at(-1)?.coverage).toBeCloseTo(11 / 12);
});

it("adds up to the card beside it, to the microjoule, by hours and by days", () => {
  const many = Array.from({ length: 168 }, (_, h) => hour(h, h % 3 === 0 ? null : 2));
  const exact = 112 * 2 + 112 / 3.6e12;
  for (const list of [bars(many, "utc"), bars(many, "browser"), bars(many.slice(0, 48), "utc")]) {
    const hours = list.reduce((s, b) => s + b.hours, 0);
    expect(sumOf(list)).toBeCloseTo(hours === 168 ? exact : 64, 9);
  }
  expect(sumOf(bars([hour(0, null)], "utc"))).toBeNull();
});
