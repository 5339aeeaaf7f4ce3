/** The factor, its source and method, beside every carbon value. */
import type { Factor } from "../api/types";
import { factor as factorText } from "../format/number";
import { useWords } from "../i18n";
import { PlaceholderBadge } from "./Badges";
import { unitText } from "./Notes";

export function FactorLine({ factor }: { factor: Factor }): JSX.Element {
  const { t } = useWords();
  const value = `${factorText(factor.value)} ${unitText(factor.unit)}`;
  if (!factor.configured) return <div className="line dim">{value} <PlaceholderBadge show /></div>;
  const source = factor.source === "" ? t("unknown.not_stated") : factor.source;
  return (
    <div className="line dim">
      {t("factor.line", { v: value, source: factor.year !== null && factor.year !== undefined && !source.includes(String(factor.year)) ? `${source} ${factor.year}` : source })}
    </div>
  );
}
