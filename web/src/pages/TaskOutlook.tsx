import type { FirstPrediction, TaskDetail, TaskPrediction, TaskProgress, TokenEfficiency } from "../api/types";
import { count, kEnergy, kMass, known, kUnknown, number, quantity } from "../format/number";
import { useWords } from "../i18n";
import { Value } from "../ui/Value";
import { bandOf } from "./band";

const kJoulesPerKwh = 3_600_000;
const energyText = (joules: number): string => {
  const q = quantity(joules / kJoulesPerKwh, kEnergy);
  return `${q.text}\u00a0${q.unit}`;
};

/** How far a task is by its own reports, what it will still need, and what it did per joule. */
export function TaskOutlook({ task }: { task: TaskDetail }): JSX.Element {
  return (
    <div className="grid">
      <Progress progress={task.progress} />
      <Prediction prediction={task.prediction} reason={task.prediction_reason} first={task.first_prediction} />
      <Tokens tokens={task.token_efficiency} />
    </div>
  );
}

function Progress({ progress }: { progress: TaskProgress | null }): JSX.Element {
  const { t, code, time, duration } = useWords();
  const total = known(progress?.epochs_total);
  const share = progress !== null && total !== null && total > 0 ? Math.min(1, progress.epoch / total) : null;
  const text = progress === null ? null : total === null ? t("outlook.epoch", { n: count(progress.epoch) }) : t("outlook.epoch_of", { n: count(progress.epoch), total: count(total) });
  return (
    <section className="card kpi span4" aria-label={t("outlook.progress")} data-card="progress">
      <div className="card-head"><h2>{t("outlook.progress")}</h2></div>
      <div className="kpi-row"><span className="big-text"><Value text={text ?? kUnknown} reason={code("reason", "no_progress_reported")} /></span></div>
      {share !== null && (
        <svg className="share-bar" width="100%" height="10" role="img" aria-label={t("word.labelled", { what: t("outlook.progress"), text: `${number(share * 100)}%` })}>
          <rect width="100%" height="10" fill="var(--tw-line)" />
          <rect width={`${share * 100}%`} height="10" fill="var(--tw-accent)" />
        </svg>
      )}
      {progress === null ? <div className="line dim">{code("reason", "no_progress_reported")}</div> : <>
        <div className="line dim">{t("outlook.reported", { at: time(progress.reported_at) })}</div>
        {known(progress.step_latency_seconds) !== null && <div className="line dim">{t("outlook.step", { d: duration(progress.step_latency_seconds) })}</div>}
      </>}
    </section>
  );
}

function Prediction({ prediction, reason, first }: { prediction: TaskPrediction | null; reason: string | null; first: FirstPrediction | null }): JSX.Element {
  const { t, code, time, duration } = useWords();
  const mass = quantity(prediction?.carbon_kgco2e, kMass);
  return (
    <section className="card kpi span4" aria-label={t("outlook.prediction")} data-card="prediction">
      <div className="card-head"><h2>{t("outlook.prediction")}</h2>{prediction !== null && <span className="badge">{t("outlook.estimated")}</span>}</div>
      {prediction === null ? <>
        <div className="kpi-row"><span className="big-text"><Value text={kUnknown} reason={code("reason", reason ?? "no_progress_reported")} /></span></div>
        <div className="line dim">{code("reason", reason ?? "no_progress_reported")}</div>
      </> : <>
        <div className="kpi-row"><span className="big-text">≈ {energyText(prediction.energy_joules)}</span></div>
        <Band prediction={prediction} />
        <div className="line">{t("outlook.band", { low: energyText(prediction.interval_90_joules[0]), high: energyText(prediction.interval_90_joules[1]) })}</div>
        <div className="line dim">{t("outlook.rest", { n: count(prediction.epochs) })}</div>
        {known(prediction.seconds) !== null && <div className="line dim">{prediction.finish_at === null ? t("outlook.time", { d: duration(prediction.seconds) }) : t("outlook.finish", { d: duration(prediction.seconds), at: time(prediction.finish_at) })}</div>}
        {known(prediction.carbon_kgco2e) !== null && <div className="line dim">{t("outlook.carbon", { m: `${mass.text}\u00a0${mass.unit}` })}</div>}
      </>}
      {first !== null && <div className="line" data-line="first">{t(first.in_interval ? "outlook.first" : "outlook.first_outside", { n: count(first.trained_epochs), k: count(first.epochs), p: `${first.error_percent > 0 ? "+" : ""}${number(first.error_percent)}%` })}</div>}
    </section>
  );
}

/** The band from 0 to its upper end: what is sure, what is likely, and the middle as a line. */
function Band({ prediction }: { prediction: TaskPrediction }): JSX.Element | null {
  const { t } = useWords();
  const band = bandOf(prediction);
  if (band === null) return null;
  return (
    <svg width="100%" height="12" role="img" aria-label={t("outlook.band", { low: energyText(prediction.interval_90_joules[0]), high: energyText(prediction.interval_90_joules[1]) })}>
      <rect y="1" width="100%" height="10" fill="var(--tw-line)" />
      <rect y="1" x={`${band.low * 100}%`} width={`${(band.high - band.low) * 100}%`} height="10" fill="url(#tw-stripe)" stroke="var(--tw-accent)" />
      <rect x={`${band.middle * 100}%`} width="2" height="12" fill="var(--tw-accent)" />
    </svg>
  );
}

function Tokens({ tokens }: { tokens: TokenEfficiency }): JSX.Element {
  const { t, code, range } = useWords();
  const unknown = known(tokens.tokens_per_joule) === null;
  const why = tokens.reason ? code("reason", tokens.reason) : t("unknown.not_stated");
  const each = known(tokens.joules_per_output_token);
  return (
    <section className="card kpi span4" aria-label={t("task.tokens")} data-card="tokens">
      <div className="card-head"><h2>{t("task.tokens")}</h2></div>
      <div className="kpi-row"><span className="big-text"><Value text={number(tokens.tokens_per_joule)} reason={why} /></span></div>
      {unknown && <div className="line dim">{why}</div>}
      {each !== null && <div className="line">{t("outlook.per_token", { j: number(each) })}</div>}
      {tokens.tokens && <div className="line dim">{t("outlook.counted", { prompt: count(tokens.tokens.prompt), completion: count(tokens.tokens.completion) })}</div>}
      {!unknown && tokens.from !== undefined && tokens.to !== undefined && <div className="line dim">{t("outlook.hours", { range: range(tokens.from, tokens.to) })}</div>}
    </section>
  );
}
