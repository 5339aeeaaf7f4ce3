import { expect, test } from "vitest";
import { classOf, hourlyMeans, kCfeScale, kCiScale } from "./classes";

test("a value has the class of its fixed breaks, unknown has none", () => {
  expect([0, 49.9, 50, 199, 200, 600, 5000].map((v) => classOf(v, kCiScale))).toEqual([0, 0, 1, 2, 3, 6, 6]);
  expect([0, 0.1, 0.95, 1].map((v) => classOf(v, kCfeScale))).toEqual([0, 1, 6, 6]);
  for (const v of [null, undefined, Number.NaN, "7"]) expect(classOf(v, kCiScale)).toBeNull();
});

test("slots become means of whole hours; an hour less than half known stays absent", () => {
  const at = (text: string): string => `2026-03-01T${text}:00Z`;
  const means = hourlyMeans([
    { start: at("10:00"), end: at("10:30"), gco2_per_kwh: 200 },
    { start: at("10:30"), end: at("11:00"), gco2_per_kwh: 300 },
    { start: at("11:00"), end: at("11:15"), gco2_per_kwh: 900 },
  ]);
  expect([...means]).toEqual([[Date.parse(at("10:00")), 250]]);
});
