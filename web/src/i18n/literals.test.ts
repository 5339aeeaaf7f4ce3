/** No sentence stands in a page itself: every one is a message, so that it exists in both languages. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { en, type MessageKey } from "./en";
import { zh } from "./zh";

const kRoot = join(__dirname, "..");
/** What people read in an attribute. */
const kSpoken = new Set(["title", "aria-label", "placeholder", "alt", "label"]);
/** Units and names that are the same in every language; a language is called by its own name in all of them. */
const kSame = /^[\s\d.,·:/()+Σ≈×⌘-]*(g\/kWh|kWh|GPU|EN|中文)?[\s·/]*$/;
const kSameMessages = ["app.name", "bar.zone.utc", "chart.csv", "col.uuid", "node.cpu_package", "node.dram", "node.estimate", "node.gpu", "node.rate"];

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sources(path) : entry.name.endsWith(".tsx") ? [path] : [];
  });
}

/** Texts that an expression in the markup may come to: `a ? "x" : "y"`, `a && "x"`, `${a} x`. */
function said(e: ts.Expression): string[] {
  if (ts.isStringLiteralLike(e)) return [e.text];
  if (ts.isParenthesizedExpression(e)) return said(e.expression);
  if (ts.isConditionalExpression(e)) return [...said(e.whenTrue), ...said(e.whenFalse)];
  if (ts.isBinaryExpression(e)) return said(e.right);
  if (ts.isTemplateExpression(e)) return [e.head.text, ...e.templateSpans.map((s) => s.literal.text)];
  return [];
}

/** Words written into the markup, as text or in a spoken attribute. */
export function literals(text: string, name: string): string[] {
  const found: string[] = [];
  const words = (s: string): void => {
    if (/[A-Za-z\u4e00-\u9fff]{2,}/.test(s) && !kSame.test(s)) found.push(s.trim());
  };
  const visit = (node: ts.Node): void => {
    // What stands in <code> or <kbd> is a name or a key, not a sentence.
    if (ts.isJsxElement(node) && ["code", "kbd"].includes(node.openingElement.tagName.getText())) return;
    if (ts.isJsxText(node)) words(node.text);
    if (ts.isJsxExpression(node) && node.expression && !ts.isJsxAttribute(node.parent)) said(node.expression).forEach(words);
    if (ts.isJsxAttribute(node) && kSpoken.has(node.name.getText()) && node.initializer && ts.isStringLiteral(node.initializer)) words(node.initializer.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true, ts.ScriptKind.TSX));
  return found;
}

it("finds words in text and in spoken attributes", () => {
  expect(literals('<p title="Look here">Hello {name}</p>', "a.tsx")).toEqual(["Look here", "Hello"]);
  expect(literals('<p>{n > 1 ? "many" : `${n} item`}</p>', "c.tsx")).toEqual(["many", "item"]);
  expect(literals('<p className="big" title={t("word.node")}>{n} g/kWh · </p>', "b.tsx")).toEqual([]);
});

it("stands in no page", () => {
  for (const path of sources(kRoot)) expect(literals(readFileSync(path, "utf8"), path), path).toEqual([]);
});

it("is translated, not copied: a Chinese message holds Chinese unless it is a name, a unit or a sign", () => {
  const copied = (Object.keys(en) as MessageKey[]).filter((k) => /[a-z]{3,}/i.test(zh[k].replace(/\{[^}]*\}/g, "")) && !/\p{Script=Han}/u.test(zh[k]));
  expect(copied.filter((k) => !kSameMessages.includes(k))).toEqual([]);
});
