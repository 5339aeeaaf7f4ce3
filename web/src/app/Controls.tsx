/** Language and theme: they work before signing in. */
import { useWords } from "../i18n";
import { Icon } from "../ui/Icon";
import { usePrefs, type Theme } from "./prefs";

export function LanguageSwitch(): JSX.Element {
  const { lang, set } = usePrefs();
  const { t } = useWords();
  return (
    <div className="segments" role="group" aria-label={t("bar.language")} data-control="language">
      <button type="button" lang="zh-CN" aria-pressed={lang === "zh"} onClick={() => set({ lang: "zh" })}>中文</button>
      <button type="button" lang="en" aria-pressed={lang === "en"} onClick={() => set({ lang: "en" })}>EN</button>
    </div>
  );
}

const kNext: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

export function ThemeSwitch(): JSX.Element {
  const { theme, set } = usePrefs();
  const { t } = useWords();
  const label = t(`bar.theme.${theme}`);
  return (
    <button type="button" className="icon-button" onClick={() => set({ theme: kNext[theme] })} aria-label={t("word.labelled", { what: t("bar.theme"), text: label })} title={label} data-control="theme">
      <Icon name={theme === "light" ? "sun" : theme === "dark" ? "moon" : "auto"} />
    </button>
  );
}
