import { describe, expect, it } from "vitest";
import { en, type MessageKey } from "./en";
import { argumentNames, formatMessage } from "./icu";
import { zh } from "./zh";

const keys = Object.keys(en) as MessageKey[];

describe("messages", () => {
  it("exist in both languages, none empty", () => {
    expect(Object.keys(zh).sort()).toEqual([...keys].sort());
    for (const k of keys) {
      expect(en[k], k).not.toBe("");
      expect(zh[k], k).not.toBe("");
    }
  });
  it("take the same arguments in both languages", () => {
    for (const k of keys) expect([...argumentNames(zh[k])].sort(), k).toEqual([...argumentNames(en[k])].sort());
  });
  it("keep the dash for unknown values only", () => {
    for (const k of keys) {
      expect(en[k], k).not.toContain("—");
      expect(zh[k], k).not.toContain("—");
    }
  });
  it("use full-width punctuation and one space between Han and Latin in Chinese", () => {
    const han = "\\p{Script=Han}";
    for (const k of keys) {
      const text = zh[k].replace(/\{\w+, plural,.*\}\}/g, "");
      expect(text, k).not.toMatch(new RegExp(`${han}[,;:!?()]`, "u"));
      expect(text, k).not.toMatch(new RegExp(`${han}[A-Za-z0-9]|[A-Za-z0-9]${han}`, "u"));
    }
  });
  it("give a method words of its own, apart from those of a quality", () => {
    for (const messages of [en, zh])
      for (const method of ["counter", "integrated", "mixed"] as const) {
        expect(messages[`method.${method}`]).not.toBe(messages["word.mixed"]);
        expect(messages[`method.${method}`]).not.toBe(messages["word.simulated"]);
      }
    expect(en["method.mixed"]).toBe("counter and power over time");
  });
  it("formats plurals and nested arguments", () => {
    expect(formatMessage(en["bar.alerts"], { n: 1 }, "en")).toBe("1 alert");
    expect(formatMessage(en["bar.alerts"], { n: 1200 }, "en")).toBe("1,200 alerts");
    expect(formatMessage(en["chart.caption.gaps"], { n: 0, d: "" }, "en")).toBe("no gap");
    expect(formatMessage(en["chart.caption.gaps"], { n: 1, d: "11 min" }, "en")).toBe("one gap of 11 min");
    expect(formatMessage(zh["chart.caption.gaps"], { n: 2, d: "18 分" }, "zh")).toBe("2 处数据缺口，共 18 分");
  });
});
