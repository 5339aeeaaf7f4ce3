/** A number or "—": the one place where unknown becomes text, always with its reason. */
import { kUnknown } from "../format/number";
import { useWords } from "../i18n";

export function Unknown({ reason }: { reason: string }): JSX.Element {
  const { t } = useWords();
  return (
    <span className="unknown" role="img" aria-label={t("unknown.aria", { reason })} title={t("unknown.not_measured", { reason })}>
      {kUnknown}
    </span>
  );
}

interface ValueProps {
  text: string;
  unit?: string;
  reason: string;
  className?: string;
  title?: string;
}

/** `text` comes from the format module; "—" there means unknown. */
export function Value({ text, unit = "", reason, className = "", title }: ValueProps): JSX.Element {
  if (text === kUnknown) return <Unknown reason={reason} />;
  return (
    <span className={`num ${className}`} title={title}>
      {text}
      {unit !== "" && <span className="unit">{`\u00a0${unit}`}</span>}
    </span>
  );
}
