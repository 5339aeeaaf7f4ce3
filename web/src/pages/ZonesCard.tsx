/** For the dashboard: the intensity of each zone now, and how good the value is. */
import { useZones } from "../api/carbon";
import { hrefTo, Link } from "../app/router";
import { known, number } from "../format/number";
import { useWords } from "../i18n";
import { Value } from "../ui/Value";

export function ZonesCard({ live }: { live: boolean }): JSX.Element | null {
  const { t, code, duration } = useWords();
  const zones = useZones(live ? 30_000 : false);
  const list = zones.data?.zones ?? [];
  if (list.length === 0) return null;
  return (
    <section className="card span12" aria-label={t("carbon.now_title")}>
      <div className="card-head"><h2>{t("carbon.now_title")}</h2><span className="grow" /><Link to={hrefTo("/carbon")}>{t("nav.carbon")}</Link></div>
      <ul className="chain">
        {list.slice(0, 12).map((z) => (
          <li key={z.zone} title={z.degraded_reason ?? ""}><strong>{z.zone}</strong> <Value text={number(z.gco2_per_kwh)} unit="g/kWh" reason={z.degraded_reason ?? t("carbon.no_data")} /> <span className="dim">{code("carbon.kind", z.kind)} · {z.quality === null ? code("carbon.step", z.state) : code("carbon.q", z.quality)}{known(z.age_seconds) === null ? "" : ` · ${duration(z.age_seconds)}`}</span>{z.degraded_reason !== null && <span className="warn-text"> ▲</span>}</li>
        ))}
      </ul>
    </section>
  );
}
