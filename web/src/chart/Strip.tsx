/** 8 px under the time axis: covered, partly covered, missing. Focus or hover lists each hole with its cause. */
import { useEffect, useRef } from "react";
import { usePrefs } from "../app/prefs";
import { useWords } from "../i18n";
import { told, type Stretch } from "./cover";
import { cssColour, hatch } from "./palette";

interface StripProps { stretches: readonly Stretch[]; from: number; to: number; width: number }

export function Strip({ stretches, from, to, width }: StripProps): JSX.Element {
  const { t, range, duration, code } = useWords();
  const { themeVersion } = usePrefs();
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const c = canvas.current;
    const ctx = c?.getContext("2d");
    if (!c || !ctx || width <= 0 || to <= from) return;
    const dpr = window.devicePixelRatio || 1;
    c.width = Math.round(width * dpr);
    c.height = Math.round(8 * dpr);
    ctx.clearRect(0, 0, c.width, c.height);
    const at = (ms: number): number => ((ms - from) / (to - from)) * c.width;
    for (const s of stretches) {
      const x = Math.max(0, at(s.from));
      // Outside the life of what is drawn there is nothing to cover.
      if (s.state === "off") continue;
      const w = Math.max(dpr, Math.min(c.width, at(s.to)) - x);
      if (s.state === "covered") {
        ctx.fillStyle = cssColour("--tw-sum");
        ctx.globalAlpha = 0.55;
        ctx.fillRect(x, 2 * dpr, w, 4 * dpr);
        ctx.globalAlpha = 1;
      } else if (s.state === "partial") {
        ctx.fillStyle = cssColour("--tw-sum");
        ctx.globalAlpha = 0.55;
        ctx.fillRect(x, 5 * dpr, w, 1.5 * dpr);
        ctx.globalAlpha = 1;
        for (let a = x; a < x + w; a += 4 * dpr) ctx.fillRect(a, 1 * dpr, 1.5 * dpr, 4 * dpr);
      } else {
        hatch(ctx, x, 0, w, c.height, cssColour("--tw-edge"), dpr, 4);
        ctx.strokeStyle = cssColour("--tw-edge");
        ctx.lineWidth = dpr;
        ctx.strokeRect(x + dpr / 2, dpr / 2, Math.max(0, w - dpr), c.height - dpr);
      }
    }
  }, [stretches, from, to, width, themeVersion]);

  const holes = stretches.filter((s) => s.state !== "covered");
  const items = holes.map((s) => t("chart.gap_item", { from: range(s.from, s.from).split(" – ")[0] ?? "", to: range(s.to, s.to).split(" – ")[1] ?? "", d: duration(((s.to - s.from) / 1000) * (s.share ?? 1)), cause: code("chart.cause", s.cause) }));
  const text = items.length === 0 ? t("chart.strip.full") : items.join("; ");
  return (
    <div className="strip" tabIndex={0} role="group" aria-label={t("chart.strip.aria", { text })} data-gaps={told(stretches).gaps}>
      <canvas ref={canvas} role="img" aria-label={text} />
      <div className="strip-list" aria-hidden="true">
        {items.length === 0 ? text : items.slice(0, 12).map((x) => <div key={x}>{x}</div>)}
        {items.length > 12 && <div>+{items.length - 12}</div>}
      </div>
    </div>
  );
}
