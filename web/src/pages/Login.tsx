import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { ApiError, signIn } from "../api/client";
import { useSignInWays } from "../api/queries";
import { LanguageSwitch, ThemeSwitch } from "../app/Controls";
import { navigate, useQueryValue } from "../app/router";
import { useWords } from "../i18n";
import { Icon } from "../ui/Icon";

/** Only a path of this site: the asked-for page must not lead elsewhere. */
export function safeNext(next: string): string {
  return /^\/(?![/\\])/.test(next) && !next.startsWith("/login-page") ? next : "/";
}

/** Why the server sent somebody back to this page, as far as it is known. */
const kReturned = ["used", "sso_down", "sso_refused", "sso_expired", "sso_no_role"] as const;

export function Login(): JSX.Element {
  const { t, lang } = useWords();
  const client = useQueryClient();
  const [next] = useQueryValue("next", "/");
  const [returned] = useQueryValue("error");
  const reason = kReturned.find((known) => known === returned);
  const sso = useSignInWays().data?.sso_path ?? null;
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);

  const submit = async (e: FormEvent): Promise<void> => {
    e.preventDefault();
    if (token.trim() === "") {
      setError("empty");
      return;
    }
    setBusy(true);
    setError(null);
    try {
      await signIn(token.trim());
      client.clear();
      navigate(safeNext(next), true);
    } catch (x) {
      setError(x);
      setBusy(false);
    }
  };

  const text = (): string => {
    if (error === "empty") return t("login.empty");
    if (!(error instanceof ApiError)) return error === null ? (reason === undefined ? "" : t(`login.${reason}`)) : t("login.failed", { detail: String(error) });
    if (error.status === 0) return t("login.unreachable");
    if (error.status === 429) return t("login.limited");
    // The server's own sentence is the most precise one, and it is English.
    return error.status === 401 && lang === "zh" ? t("login.refused") : t("login.failed", { detail: error.detail });
  };
  const message = text();
  return (
    <div className="login">
      <div className="login-top"><LanguageSwitch /><ThemeSwitch /></div>
      <main className="login-main">
        <h1 className="login-brand"><Icon name="tide" size={28} /> {t("app.name")} <span>{t("app.claim")}</span></h1>
        <form className="card login-card" onSubmit={(e) => void submit(e)} noValidate>
          <label htmlFor="token">{t("login.token")}</label>
          <div className="login-row">
            <input id="token" name="token" type="password" autoComplete="current-password" autoFocus value={token} onChange={(e) => setToken(e.target.value)} aria-invalid={message !== ""} aria-describedby="login-message" />
            <button type="submit" className="button primary" disabled={busy}>{t("login.submit")}</button>
          </div>
          <div id="login-message" role="alert" className={message === "" ? "" : "login-error"}>{message !== "" && <><span aria-hidden="true">▲ </span>{message}</>}</div>
          {sso !== null && <a className="button login-sso" href={`${sso}?next=${encodeURIComponent(safeNext(next))}`}>{t("login.sso")}</a>}
          <p className="dim">{t("login.hint", { file: "ops.token" })}</p>
        </form>
      </main>
    </div>
  );
}
