import { describe, expect, it } from "vitest";
import * as n from "./number";
import { ageText, clockText, durationText, millis, rangeText, shortDuration, timeText } from "./time";

const nb = "\u00a0";
const junk: unknown[] = [null, undefined, NaN, Infinity, -Infinity, "12", "", {}, [], true, () => 1, Symbol("x"), 12n];

describe("numbers are total", () => {
  it("prints junk as the unknown dash and nothing else", () => {
    for (const x of junk) {
      for (const f of [n.number, n.count, n.watts, n.kwh, n.percent, n.factor, n.bytes, (v: unknown) => n.coverage(v), (v: unknown) => n.carbon(v, "co2e")]) {
        expect(f(x)).toBe("—");
      }
    }
  });
  it("never prints a forbidden word for any magnitude", () => {
    for (let e = -12; e <= 15; e += 1) {
      for (const m of [1, 3.333, 9.9999, -4.5]) {
        for (const s of [n.number(m * 10 ** e), n.watts(m * 10 ** e), n.kwh(m * 10 ** e), n.percent(m * 10 ** e)]) {
          expect(s).not.toMatch(/NaN|undefined|null|object|e[+-]/);
          expect(s.replace(/[^1-9]/g, ""), `${m}e${e} prints as zero: ${s}`).not.toBe("");
        }
      }
    }
  });
});

describe("number", () => {
  it.each([
    [0, "0"], [12345, "12,345"], [412.4, "412"], [41.23, "41.2"], [4.1234, "4.12"], [0.0003, "0.0003"], [0.00030049, "0.0003"],
    [0.5, "0.5"], [1e-7, "<0.000001"], [-1e-7, ">−0.000001"], [0.99999, "1.00"], [9.996, "10.0"], [99.96, "100"], [-412, "−412"], [999.6, "1,000"],
  ])("%d is %s", (x, text) => expect(n.number(x)).toBe(text));
});

describe("units", () => {
  it.each([[0, `0${nb}W`], [412, `412${nb}W`], [3120, `3,120${nb}W`], [9999.9, `10,000${nb}W`], [10_000, `10.0${nb}kW`], [18_300, `18.3${nb}kW`], [12_000_000, `12.0${nb}MW`]])(
    "%d W", (x, text) => expect(n.watts(x)).toBe(text));
  it("promotes energy and mass from 10,000", () => {
    expect(n.kwh(412)).toBe(`412${nb}kWh`);
    expect(n.kwh(12_345)).toBe(`12.3${nb}MWh`);
    expect(n.kwh(0.0003)).toBe(`0.0003${nb}kWh`);
    expect(n.carbon(12_345, "co2e")).toBe(`12.3${nb}t${nb}CO₂e`);
    expect(n.carbon(1, "co2")).toBe(`1.00${nb}kg${nb}CO₂`);
  });
  it("uses one unit for a column", () => {
    expect(n.pickFor(n.kWatts, [1, null, 20_000])).toEqual(["kW", 1e3]);
    expect(n.pickFor(n.kWatts, [null])).toEqual(["W", 1]);
  });
});

describe("coverage is cut, not rounded", () => {
  it.each([[0.9999, 0, 0, "99.9%"], [0.982, 10, 0, "98.2%"], [1, 0, 0, "100%"], [1, 1, 0, "99.9%"], [1, 0, 5, "99.9%"], [0, 9, 0, "0%"], [0.0001, 9, 0, "<0.1%"], [0.99, 9, 0, "99.0%"]])(
    "%d gap %d partial %d", (c, gap, partial, text) => expect(n.coverage(c, gap, partial)).toBe(text));
  it("is low below 99% only when known", () => {
    expect(n.coverageIsLow(0.9899)).toBe(true);
    expect(n.coverageIsLow(0.99)).toBe(false);
    expect(n.coverageIsLow(null)).toBe(false);
  });
});

describe("microjoules are exact", () => {
  it("keeps integers beyond 2^53", () => {
    expect(n.exactMicrojoules("9007199254740993")).toBe(`9,007,199,254,740,993${nb}µJ`);
    expect(n.sumMicrojoules(["9007199254740993", "1"])).toBe(9007199254740994n);
    expect(n.sumMicrojoules(["1", null])).toBeNull();
    expect(n.kwhOf("3600000000000")).toBe(1);
  });
  it("refuses what is not a decimal string", () => {
    for (const x of [...junk.filter((v) => typeof v !== "bigint"), "1.5", "0x10", "1e3"]) {
      if (x === "12") continue;
      expect(n.microjoules(x)).toBeNull();
    }
  });
});

describe("time", () => {
  it("prints the zone and both languages", () => {
    expect(timeText("2026-11-29T06:05:00Z", "utc", "en")).toBe("29 Nov 06:05 UTC");
    expect(timeText("2026-11-29T06:05:00Z", "utc", "zh")).toBe("11月29日 06:05 UTC");
    expect(clockText("2026-11-29T00:00:00Z", "utc")).toBe("00:00");
    expect(rangeText("2026-11-28T06:00:00Z", "2026-11-29T06:00:00Z", "utc", "en")).toBe("28 Nov 06:00 – 29 Nov 06:00 UTC");
  });
  it("is total", () => {
    for (const x of [null, undefined, "", "yesterday", NaN, {}]) {
      expect(millis(x)).toBeNull();
      expect(timeText(x, "browser", "en")).toBe("—");
      expect(ageText(x, 0, "en")).toBe("—");
      expect(durationText(x, "zh")).toBe("—");
    }
  });
  it("prints durations in at most two units", () => {
    expect(durationText(12_000, "en")).toBe(`3${nb}h 20${nb}min`);
    expect(durationText(12_000, "zh")).toBe(`3${nb}小时 20${nb}分`);
    expect(durationText(0, "en")).toBe(`0${nb}s`);
    expect(durationText(0.25, "en")).toBe(`250${nb}ms`);
    expect(durationText(7_200, "en")).toBe(`2${nb}h`);
    expect(shortDuration(690, "en")).toBe(`11${nb}min`);
    expect(ageText("2026-11-29T06:00:00Z", Date.parse("2026-11-29T06:04:30Z"), "en")).toBe(`4${nb}min ago`);
  });
});

it("never rounds a part up to the whole", () => {
  expect(n.percent(0.99996)).toBe("99.9%");
  expect(n.percent(1)).toBe("100%");
  expect(n.percent(1.25)).toBe("125.0%");
  expect(n.coverage(0.99996)).toBe("99.9%");
  expect(n.coverage(1, 0, 20)).toBe("99.9%");
  expect(n.coverage(1, null, null)).toBe("100%");
});
