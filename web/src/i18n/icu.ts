/** The part of ICU MessageFormat that the pages use: {name} and {name, plural, one {..} other {..}} with #. */

type Part = string | { name: string; plural?: Map<string, Part[]> };
export type Params = Record<string, string | number>;

interface Cursor { at: number }

function parseUntil(text: string, cursor: Cursor, nested: boolean): Part[] {
  const out: Part[] = [];
  let literal = "";
  const flush = (): void => {
    if (literal !== "") out.push(literal);
    literal = "";
  };
  while (cursor.at < text.length) {
    const c = text.charAt(cursor.at);
    if (c === "}" && nested) break;
    if (c === "#" && nested) {
      flush();
      out.push({ name: "#" });
      cursor.at += 1;
    } else if (c === "{") {
      flush();
      out.push(parseArgument(text, cursor));
    } else {
      literal += c;
      cursor.at += 1;
    }
  }
  flush();
  return out;
}

function parseArgument(text: string, cursor: Cursor): Part {
  const head = /^\{\s*(\w+)\s*(,\s*plural\s*,\s*)?/.exec(text.slice(cursor.at));
  if (!head) throw new Error(`message "${text}": argument expected at ${cursor.at}`);
  cursor.at += head[0].length;
  const name = head[1] ?? "";
  if (head[2] === undefined) {
    if (text.charAt(cursor.at) !== "}") throw new Error(`message "${text}": "}" expected after {${name}`);
    cursor.at += 1;
    return { name };
  }
  const plural = new Map<string, Part[]>();
  for (;;) {
    const option = /^\s*(=\d+|\w+)\s*\{/.exec(text.slice(cursor.at));
    if (!option) break;
    cursor.at += option[0].length;
    plural.set(option[1] ?? "", parseUntil(text, cursor, true));
    if (text.charAt(cursor.at) !== "}") throw new Error(`message "${text}": unclosed plural option`);
    cursor.at += 1;
  }
  const end = /^\s*\}/.exec(text.slice(cursor.at));
  if (!end || !plural.has("other")) throw new Error(`message "${text}": plural needs "other" and a closing brace`);
  cursor.at += end[0].length;
  return { name, plural };
}

const parsed = new Map<string, Part[]>();
export function parse(message: string): Part[] {
  let parts = parsed.get(message);
  if (!parts) {
    parts = parseUntil(message, { at: 0 }, false);
    parsed.set(message, parts);
  }
  return parts;
}

/** Names of the arguments, for the test that both languages take the same ones. */
export function argumentNames(message: string): Set<string> {
  const names = new Set<string>();
  const walk = (parts: Part[]): void => {
    for (const p of parts) {
      if (typeof p === "string" || p.name === "#") continue;
      names.add(p.name);
      for (const option of p.plural?.values() ?? []) walk(option);
    }
  };
  walk(parse(message));
  return names;
}

const rules = new Map<string, Intl.PluralRules>();
function category(locale: string, n: number): string {
  let r = rules.get(locale);
  if (!r) {
    r = new Intl.PluralRules(locale);
    rules.set(locale, r);
  }
  return r.select(n);
}

export function formatMessage(message: string, params: Params, locale: string): string {
  const render = (parts: Part[], hash: number): string =>
    parts.map((p) => {
      if (typeof p === "string") return p;
      if (p.name === "#") return hash.toLocaleString("en-US");
      const value = params[p.name];
      if (!p.plural) return value === undefined ? `{${p.name}}` : String(value);
      const n = Number(value);
      const option = p.plural.get(`=${n}`) ?? p.plural.get(category(locale, n)) ?? p.plural.get("other") ?? [];
      return render(option, n);
    }).join("");
  return render(parse(message), 0);
}
