/** Why something gives nothing: in the reader's language, an agent's own words beside it. */
import { useWords } from "../i18n";
import { ownReason, plainReason } from "./sources";

export function Why({ reason }: { reason: string | null | undefined }): JSX.Element | null {
  const { t } = useWords();
  if (!reason) return null;
  const own = ownReason(reason);
  if (own) return <>{t(own)}</>;
  const plain = plainReason(reason);
  return <>{plain && t(plain)} <span className={plain ? "dim" : ""}>{reason}</span></>;
}
