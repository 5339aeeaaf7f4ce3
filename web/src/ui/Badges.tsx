import type { Attribution } from "../api/types";
import { useWords } from "../i18n";

export function SimBadge({ quality }: { quality: string | null | undefined }): JSX.Element | null {
  const { t } = useWords();
  if (quality !== "simulated" && quality !== "mixed") return null;
  return <span className="badge sim" title={t(quality === "mixed" ? "badge.mixed.title" : "badge.sim.title")}>{t("badge.sim")}</span>;
}

interface Played { replay?: boolean; sources?: readonly string[] }

/** Wherever what is shown was played from a recorded log. */
export function ReplayBadge({ of }: { of: Played | undefined }): JSX.Element | null {
  const { t } = useWords();
  return of?.replay === true || of?.sources?.includes("replay") === true ? <span className="badge replay" title={t("banner.replay")}>{t("badge.replay")}</span> : null;
}

export function AttributionBadge({ value }: { value: Attribution | null | undefined }): JSX.Element {
  const { t } = useWords();
  if (value === "exclusive") return <span className="badge">{t("badge.exclusive")}</span>;
  if (value === "shared_estimated") return <span className="badge est">≈ {t("badge.shared")}</span>;
  return <span className="badge dim">{t("badge.unknown")}</span>;
}

export function EstimateBadge(): JSX.Element {
  const { t } = useWords();
  return <span className="badge est">{t("badge.est")}</span>;
}

export function PlaceholderBadge({ show }: { show: boolean }): JSX.Element | null {
  const { t } = useWords();
  return show ? <span className="badge warn">▲ {t("badge.placeholder")}</span> : null;
}
