/** Notes of an answer in the reader's language; a code this version does not know shows the server's sentence. */
import type { Energy, Note } from "../api/types";
import { coverage, factor, known, kUnknown } from "../format/number";
import { millis } from "../format/time";
import { knownKey, useWords, type Words } from "../i18n";

export function noteText(note: Note, w: Words, e: Partial<Energy>): string {
  const key = knownKey("note", note.code);
  if (!key) return note.text;
  const p = note.params ?? {};
  switch (note.code) {
    case "gap": {
      const percent = known(p["coverage_percent"]);
      const gap = known(p["gap_seconds"]) ?? known(e.gap_seconds);
      const c = coverage(percent === null ? e.coverage : percent / 100, gap, e.partial_seconds);
      return c === kUnknown || gap === null ? note.text : w.t(key, { c, gap: amount(e.scope ?? "", gap, w) });
    }
    case "open_gap":
      return w.t(key, { d: amount(e.scope ?? "", known(p["open_gap_seconds"]), w) });
    case "placeholder_factor":
      return w.t(key, { v: `${factor(known(p["value"]) ?? e.emission_factor?.value)} ${unitText(e.emission_factor?.unit ?? "kgCO2e/kWh")}` });
    case "total_hours": {
      const [from, to] = w.range(p["from"] ?? e.from, p["to"] ?? e.to).split(" – ");
      return w.t(key, { from: from ?? kUnknown, to: to ?? kUnknown });
    }
    case "curve_retention":
      return w.t(key, { n: known(p["days"]) ?? 7 });
    default:
      return w.t(key);
  }
}

/** "kgCO2e/kWh" as printed: "kg CO₂e/kWh". */
export function unitText(unit: unknown): string {
  return typeof unit === "string" && unit !== "" ? unit.replace(/^kgCO2/, "kg\u00a0CO₂").replace(/^gCO2/, "g\u00a0CO₂") : "kg\u00a0CO₂e/kWh";
}

/** Notes that stand on the page itself; the rest is in the evidence drawer. */
const kOnPage = new Set(["open_gap", "spread", "partial", "estimated_not_booked"]);

export function Notes({ energy, all = false }: { energy: Energy; all?: boolean }): JSX.Element | null {
  const w = useWords();
  const shown = energy.notes.filter((n) => all || kOnPage.has(n.code));
  if (shown.length === 0) return null;
  return <ul className="notes">{shown.map((n) => <li key={`${n.code}${n.text}`}>{noteText(n, w, energy)}</li>)}</ul>;
}

/** Nothing is missing in the total although power was unknown for a while: a counter went on. */
export const bridged = (e: Pick<Energy, "gap_seconds" | "method"> | undefined): boolean => e !== undefined && e.gap_seconds === 0 && (known(e.method?.counter_kwh) ?? 0) > 0 && known(e.method?.integrated_kwh) === 0;

/** The first sample, where the period begins before it: coverage counts from there. */
function lateStart(e: Pick<Energy, "from" | "first_sample_at">): number | null {
  const first = millis(e.first_sample_at);
  const from = millis(e.from);
  return first !== null && from !== null && first - from > 3_600_000 ? first : null;
}

/** How much is missing where coverage is good; of node time where many nodes are summed. Devices that never gave a value have no seconds to miss: they are counted in `unread`. */
export function MissingLine({ energy, unread = 0 }: { unread?: number; energy: Pick<Energy, "scope" | "coverage" | "gap_seconds" | "partial_seconds" | "method" | "from" | "first_sample_at"> }): JSX.Element | null {
  const w = useWords();
  if (known(energy.coverage) === null) return null;
  const parts = [
    (known(energy.gap_seconds) ?? 0) > 0 ? w.t("coverage.some", { gap: missing(energy, w) }) : null,
    (known(energy.partial_seconds) ?? 0) > 0 ? w.t(bridged(energy) ? "coverage.partly_bridged" : "coverage.partly", { d: amount(energy.scope, energy.partial_seconds, w) }) : null,
    unread > 0 ? w.t("coverage.unread", { n: unread }) : null,
  ].filter((x) => x !== null);
  const since = lateStart(energy);
  return (
    <>
      <div className="line dim">{parts.length > 0 ? parts.join(w.t("word.comma")) : w.t("coverage.full")}</div>
      {since !== null && <div className="line dim">{w.t("coverage.since", { c: coverage(energy.coverage, energy.gap_seconds, energy.partial_seconds), time: w.time(since) })}</div>}
    </>
  );
}

/** Seconds of many nodes add up to more than the range: the text says whose time it is. */
export const amount = (scope: string, seconds: number | null, w: Words): string => (scope === "cluster" ? w.t("coverage.node_time", { d: w.duration(seconds) }) : scope === "team" ? w.t("coverage.task_time", { d: w.duration(seconds) }) : w.duration(seconds));
export const missing = (e: Pick<Energy, "scope" | "gap_seconds">, w: Words): string => amount(e.scope, e.gap_seconds, w);

/** The sentence that real energy is higher, wherever coverage is below 99%. */
export function CoverageNote({ energy }: { energy: Pick<Energy, "scope" | "coverage" | "gap_seconds" | "partial_seconds"> }): JSX.Element | null {
  const w = useWords();
  const { t } = w;
  if (known(energy.coverage) === null || (energy.coverage ?? 1) >= 0.99) return null;
  return <div className="line warn-text" data-note="coverage"><span aria-hidden="true">▲ </span>{t("coverage.low", { c: coverage(energy.coverage, energy.gap_seconds, energy.partial_seconds), gap: missing(energy, w) })}</div>;
}
