import { useMemo } from "react";
import { usePrefs } from "../app/prefs";
import * as time from "../format/time";
import { en, type MessageKey } from "./en";
import { formatMessage, type Params } from "./icu";
import { zh } from "./zh";

export type { MessageKey } from "./en";
export type T = (key: MessageKey, params?: Params) => string;

export function translator(lang: time.Lang): T {
  const messages: Record<MessageKey, string> = lang === "zh" ? zh : en;
  return (key, params = {}) => formatMessage(messages[key], params, lang);
}

/** The message for a code that the server may extend; null when this version does not know it. */
export function knownKey(prefix: string, code: unknown): MessageKey | null {
  const key = `${prefix}.${String(code)}`;
  return Object.prototype.hasOwnProperty.call(en, key) ? (key as MessageKey) : null;
}

export interface Words {
  t: T;
  lang: time.Lang;
  zone: time.Zone;
  time: (x: unknown, seconds?: boolean) => string;
  clock: (x: unknown, seconds?: boolean) => string;
  range: (a: unknown, b: unknown) => string;
  duration: (seconds: unknown) => string;
  short: (seconds: unknown) => string;
  age: (x: unknown, now?: number) => string;
  /** Text of `prefix.code`, else the code itself in words. */
  code: (prefix: string, code: unknown, fallback?: unknown) => string;
}

export function useWords(): Words {
  const { lang, zone } = usePrefs();
  return useMemo(() => {
    const t = translator(lang);
    return {
      t, lang, zone,
      time: (x, seconds) => time.timeText(x, zone, lang, seconds),
      clock: (x, seconds) => time.clockText(x, zone, seconds),
      range: (a, b) => time.rangeText(a, b, zone, lang),
      duration: (s) => time.durationText(s, lang),
      short: (s) => time.shortDuration(s, lang),
      age: (x, now = Date.now()) => time.ageText(x, now, lang),
      code: (prefix, code, fallback) => {
        const key = knownKey(prefix, code);
        if (key) return t(key);
        if (typeof fallback === "string" && fallback !== "") return fallback;
        return typeof code === "string" && code !== "" ? code.replaceAll("_", " ") : t("word.unknown");
      },
    };
  }, [lang, zone]);
}
