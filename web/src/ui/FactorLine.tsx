/** The factor, its source and method, beside every carbon value. */
import type { Factor } from "../api/types";
import { factor as factorText } from "../format/number";
import { useWords } from "../i18n";
import { PlaceholderBadge } from "./Badges";
import { unitText } from "./Notes";

export function FactorLine({ factor }: { factor: Factor }): JSX.Element {
  const { t } = useWords();
  const source = factor.configured && factor.source !== "" ? factor.source : t("badge.placeholder");
  return (
    <div className="line dim">
      {t("factor.line", { v: factorText(factor.value), unit: unitText(factor.unit), source: factor.year !== null && factor.year !== undefined && !source.includes(String(factor.year)) ? `${source} ${factor.year}` : source })}
      {" "}<PlaceholderBadge show={!factor.configured} />
    </div>
  );
}
