/** Any figure that opens its evidence: a real button whose text is the figure. */
import type { ReactNode } from "react";
import { setQuery } from "../app/router";
import { useWords, type MessageKey } from "../i18n";

export type EvidenceKind = "energy" | "carbon" | "power" | "coverage";
export type EvidenceScope = "cluster" | "node" | "task";

export interface EvidenceRef { kind: EvidenceKind; scope: EvidenceScope; id: string }

export const drawerValue = (e: EvidenceRef): string => `${e.kind}~${e.scope}~${e.id}`;

export function parseDrawer(value: string): EvidenceRef | null {
  const [kind, scope, ...id] = value.split("~");
  if (kind !== "energy" && kind !== "carbon" && kind !== "power" && kind !== "coverage") return null;
  if (scope !== "cluster" && scope !== "node" && scope !== "task") return null;
  return { kind, scope, id: id.join("~") };
}

export function EvidenceButton({ of, children, className = "" }: { of: EvidenceRef; children: ReactNode; className?: string }): JSX.Element {
  const { t } = useWords();
  const key: MessageKey = `ev.${of.kind}`;
  const open = (): void => setQuery({ drawer: drawerValue(of) }, false);
  return (
    <button type="button" className={`figure ${className}`} onClick={open} title={t("ev.show", { what: t(key) })} aria-haspopup="dialog">
      {children}
    </button>
  );
}
