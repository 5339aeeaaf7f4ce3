/** Loading, error and empty: each of the final size, each says what to do. */
import { Component, useEffect, useState, type ReactNode } from "react";
import { ApiError } from "../api/client";
import { useWords } from "../i18n";

/** A quiet placeholder that appears only when loading takes longer than a glance. */
export function Skeleton({ lines = 4 }: { lines?: number }): JSX.Element {
  const { t } = useWords();
  const [show, setShow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShow(true), 200);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className={show ? "skeleton shown" : "skeleton"} role="status" aria-label={t("state.loading")}>
      {Array.from({ length: lines }, (_, i) => <div key={i} className="bone" />)}
    </div>
  );
}

export function ErrorBox({ error, what, retry }: { error: unknown; what: string; retry?: () => void }): JSX.Element {
  const { t } = useWords();
  const api = error instanceof ApiError ? error : null;
  const detail = api?.code === "unreachable" ? t("state.error.unreachable") : api ? api.detail.replace(/[.。]\s*$/, "") : error instanceof Error ? error.message : String(error);
  return (
    <div className="message bad" role="alert">
      <span aria-hidden="true">▲ </span>
      {api?.status === 403 ? t("state.forbidden") : t("state.error", { what, detail, id: api && api.requestId !== "" ? api.requestId : t("word.none") })}
      {retry && <button type="button" className="button small" onClick={retry}>{t("state.retry")}</button>}
    </div>
  );
}

export function Empty({ children }: { children: ReactNode }): JSX.Element {
  return <div className="message empty">{children}</div>;
}

export function NoNodes(): JSX.Element {
  const { t } = useWords();
  const cmd = `tidewatt-agent --server ${window.location.origin} --token-file agent.token`;
  const [before, after] = t("state.no_nodes", { cmd: "\u0000" }).split("\u0000");
  return <Empty>{before}<code>{cmd}</code>{after}</Empty>;
}

function CrashNote({ detail }: { detail: string }): JSX.Element {
  const { t } = useWords();
  return <div className="message bad" role="alert">▲ {t("state.crash", { detail })}</div>;
}

/** One failed card never blanks the page. */
export class Guard extends Component<{ children: ReactNode; resetKey?: string }, { error: Error | null; key: string | undefined }> {
  override state: { error: Error | null; key: string | undefined } = { error: null, key: this.props.resetKey };
  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }
  static getDerivedStateFromProps(props: { resetKey?: string }, state: { key: string | undefined }): { error: null; key: string | undefined } | null {
    return props.resetKey !== state.key ? { error: null, key: props.resetKey } : null;
  }
  override render(): ReactNode {
    return this.state.error ? <CrashNote detail={this.state.error.message} /> : this.props.children;
  }
}
