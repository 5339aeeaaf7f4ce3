import { expect, it } from "vitest";
import { en } from "../i18n/en";
import { formatMessage } from "../i18n/icu";
import { bars } from "./HourBars";

const hour = (h: number, kwh: number | null) => ({ hour: new Date(Date.UTC(2026, 10, 29, h)).toISOString(), energy_kwh: kwh, coverage: kwh === null ? null : 1, gap_seconds: 0, partial_seconds: kwh === null ? 0 : 20 });

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
