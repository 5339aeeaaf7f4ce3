import type { TaskEndpoints } from "../api/types";
import { count, coverage, coverageIsLow, exactMicrojoules, kEnergy, known, kwhOf, type Ladder, microjoules, number, pickFor, quantity, sumMicrojoules } from "../format/number";
import { knownKey, useWords } from "../i18n";
import { Value } from "../ui/Value";

const kJoules: Ladder = [["mJ", 1e-3], ["J", 1], ["kJ", 1e3], ["MJ", 1e6]];
const kMicrojoulesPerJoule = 1e6;

/** What each endpoint used, with the rows that make it the task's whole energy. Nothing where no span ever came. */
export function TaskEndpointsCard({ of }: { of: TaskEndpoints }): JSX.Element | null {
  const { t, time } = useWords();
  if (of.reason === "no_spans") return null;
  const [unit, div] = pickFor(kEnergy, [of.energy_kwh]);
  const cell = (kwh: number | null): string => number(known(kwh) === null ? null : (kwh ?? 0) / div);
  const rest: readonly (readonly ["endpoints.no_span" | "endpoints.not_observed", string | null])[] = [["endpoints.no_span", of.no_span_energy_uj], ["endpoints.not_observed", of.not_observed_energy_uj]];
  const total = microjoules(of.energy_uj);
  const sum = sumMicrojoules([...of.endpoints.map((e) => e.energy_uj ?? "0"), ...rest.map(([, uj]) => uj ?? "0")]);
  const diff = total !== null && sum !== null ? sum - total : null;
  return (
    <section className="card" data-card="endpoints">
      <div className="card-head"><h2>{t("endpoints.title")}</h2><span className="badge">{t("outlook.estimated")}</span>{diff !== null && (diff === 0n ? <span className="dim">✓ {t("task.where.match")}</span> : <span className="bad-text">▲ {t("task.where.mismatch", { d: exactMicrojoules(diff) })}</span>)}</div>
      <div className="scroll-x">
        <table className="table wide">
          <thead><tr><th scope="col">{t("col.endpoint")}</th><th scope="col">{t("col.service")}</th><th scope="col" className="r">{t("col.requests")}</th><th scope="col" className="r">{t("col.failed")}</th><th scope="col" className="r">{t("col.per_request")}</th><th scope="col" className="r">{t("col.coverage")}</th><th scope="col" className="r">{t("col.energy", { unit })}</th></tr></thead>
          <tbody>
            {of.endpoints.map((e) => {
              const uj = microjoules(e.energy_per_request_uj);
              const each = quantity(uj === null ? null : Number(uj) / kMicrojoulesPerJoule, kJoules);
              return (
                <tr key={`${e.service}\n${e.route}`} data-row={e.route} data-uj={e.energy_uj ?? ""}>
                  <td className="name">{e.route}</td>
                  <td>{e.service}</td>
                  <td className="r">{count(e.requests)}</td>
                  <td className={e.failed > 0 ? "r warn-text" : "r"}>{count(e.failed)}</td>
                  <td className="r"><Value text={each.text} unit={each.unit} reason={t("unknown.no_data")} /></td>
                  <td className={coverageIsLow(e.coverage) ? "r warn-text" : "r"}><Value text={coverage(e.coverage)} reason={t("unknown.no_data")} /></td>
                  <td className="r"><Value text={cell(e.energy_kwh)} reason={t("unknown.no_data")} /></td>
                </tr>
              );
            })}
            {rest.map(([key, uj]) => (
              <tr key={key} data-row={key} data-uj={uj ?? ""}><td className="name dim" colSpan={6}>{t(key)}</td><td className="r"><Value text={cell(kwhOf(uj))} reason={t("unknown.no_data")} /></td></tr>
            ))}
            <tr className="total" data-total={of.energy_uj ?? ""}><td className="name" colSpan={6}><strong>{t("word.total")}</strong></td><td className="r"><Value text={cell(of.energy_kwh)} reason={t("unknown.no_data")} /></td></tr>
          </tbody>
        </table>
      </div>
      {of.spans_since !== null && <div className="line dim">{t("endpoints.since", { at: time(of.spans_since) })}</div>}
      {of.notes.length > 0 && <ul className="notes">{of.notes.map((n) => { const key = knownKey("note", n.code); return <li key={n.code}>{key ? t(key, { n: known(n.params?.["spans"]) ?? 0 }) : n.text}</li>; })}</ul>}
    </section>
  );
}
