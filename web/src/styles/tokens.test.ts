import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("./tokens.css", import.meta.url), "utf8");
const block = (selector: string): Record<string, string> => {
  const start = css.indexOf(selector);
  const body = css.slice(css.indexOf("{", start) + 1, css.indexOf("}", start));
  return Object.fromEntries([...body.matchAll(/--tw-([\w-]+):\s*(#[0-9A-Fa-f]{6})/g)].map((m) => [m[1] ?? "", m[2] ?? ""]));
};
const themes = { light: block(":root {"), dark: block(':root[data-theme="dark"]') };

function luminance(hex: string): number {
  const c = [1, 3, 5].map((i) => {
    const v = parseInt(hex.slice(i, i + 2), 16) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (c[0] ?? 0) + 0.7152 * (c[1] ?? 0) + 0.0722 * (c[2] ?? 0);
}
function ratio(a: string, b: string): number {
  const [hi, lo] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return ((hi ?? 0) + 0.05) / ((lo ?? 0) + 0.05);
}

describe.each(Object.entries(themes))("%s theme", (_name, t) => {
  const on = (fg: string, grounds: string[], least: number): void => {
    for (const g of grounds) expect(ratio(t[fg] ?? "", t[g] ?? ""), `${fg} on ${g}`).toBeGreaterThanOrEqual(least);
  };
  it("keeps text readable on every ground", () => {
    for (const fg of ["text", "text2", "text3", "accent", "good", "warn", "bad", "estimated", "simulated"]) on(fg, ["bg", "surface", "raised"], 4.5);
  });
  it("keeps words readable on their own tint, and on accent", () => {
    for (const c of ["accent", "good", "warn", "bad", "estimated", "simulated"]) on(c, [`${c}-tint`], 5);
    on("on-accent", ["accent"], 4.5);
  });
  it("keeps edges and curves visible", () => {
    on("edge", ["bg", "surface", "raised"], 3);
    for (let i = 0; i < 8; i += 1) on(`dev${i}`, ["bg", "surface"], 3);
    on("sum", ["bg", "surface"], 3);
  });
});

it("writes the dark theme the same for the system's choice and the reader's", () => {
  expect(block(':root:not([data-theme="light"])')).toEqual(themes.dark);
});
