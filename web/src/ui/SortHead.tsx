import type { ReactNode } from "react";
import { useWords } from "../i18n";

interface SortHeadProps {
  by: string;
  sort: string;
  onSort: (s: string) => void;
  children: ReactNode;
  label: string;
  right?: boolean;
  className?: string;
  /** Numbers start with the largest. */
  downFirst?: boolean;
}

export function SortHead({ by, sort, onSort, children, label, right = false, className = "", downFirst = false }: SortHeadProps): JSX.Element {
  const { t } = useWords();
  const up = sort === by;
  const down = sort === `-${by}`;
  const next = up ? `-${by}` : down ? by : downFirst ? `-${by}` : by;
  return (
    <th scope="col" className={`${right ? "r " : ""}${className}`} aria-sort={up ? "ascending" : down ? "descending" : "none"}>
      <button type="button" className="sort" onClick={() => onSort(next)} aria-label={t("sort.by", { col: label })}>
        {children}<span className="sort-mark" aria-hidden="true">{up ? "▲" : down ? "▼" : ""}</span>
      </button>
    </th>
  );
}
