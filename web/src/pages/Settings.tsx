import { useState } from "react";
import { useCoverage, useFactors, useSession, useSources } from "../api/queries";
import type { SourceRow } from "../api/types";
import { hrefToNode, Link, useQueryValue } from "../app/router";
import { count, factor as factorText } from "../format/number";
import { isoText } from "../format/time";
import { knownKey, useWords } from "../i18n";
import { PlaceholderBadge, SimBadge } from "../ui/Badges";
import { unitText } from "../ui/Notes";
import { Empty, ErrorBox, NoNodes, Skeleton } from "../ui/States";
import { Unknown } from "../ui/Value";
import { Why } from "../ui/Why";

const kMarks: Record<string, string> = { booked: "●", silent: "◌", beside: "◐", estimated: "≈", unknown: "○" };

export function Settings(): JSX.Element {
  const { t, code, age } = useWords();
  const [q] = useQueryValue("q");
  const session = useSession();
  const refused = session.data?.role === "tenant";
  const list = useSources(!refused);
  const factors = useFactors();
  if (refused) return <div className="sheet"><div className="toolbar"><h1>{t("settings.sources")}</h1></div><Empty>{t("settings.team_view")}</Empty></div>;
  if (list.isPending) return <div className="sheet"><Skeleton lines={20} /></div>;
  if (list.isError && !list.data) return <ErrorBox error={list.error} what={t("what.sources")} retry={() => void list.refetch()} />;
  const all = list.data.nodes.flatMap((n) => n.sources.map((s) => ({ node: n.node_id, cluster: n.cluster, s })));
  const needle = q.toLowerCase();
  const rows = all.filter((r) => needle === "" || r.node.toLowerCase().includes(needle) || r.s.source.toLowerCase().includes(needle) || r.s.state.includes(needle));
  const f = factors.data?.in_force ?? null;
  const gives = (s: SourceRow): JSX.Element => {
    if (s.gives === null || s.gives === "") return <Unknown reason={s.why_not ?? t("unknown.not_read")} />;
    const key = knownKey("settings.gives", s.gives.replace("+", "_"));
    return <>{key ? t(key) : s.gives}</>;
  };
  return (
    <div className="sheet">
      <div className="toolbar">
        <h1>{t("settings.sources")}</h1>
        <span>{t("settings.count", { s: all.length, n: list.data.nodes.length })}</span>
        <span className="grow" />
        <span className="dim">{t("settings.factor.is")}</span>
        {factors.isError ? <span className="bad-text">▲</span> : f ? <span>{factorText(f.value)} {unitText(f.unit)} {f.configured ? `· ${f.source}` : ""} <PlaceholderBadge show={!f.configured} /></span> : factors.isPending ? null : <span className="dim">{t("settings.factor.none")}</span>}
      </div>
      {all.length === 0 ? <NoNodes /> : rows.length === 0 ? <Empty>{t("state.no_match", { q })}</Empty> : (
        <table className="table wide sources">
          <thead><tr><th scope="col">{t("col.node")}</th><th scope="col">{t("col.source")}</th><th scope="col" className="r">{t("col.devices")}</th><th scope="col">{t("col.state")}</th><th scope="col">{t("col.gives")}</th><th scope="col">{t("col.read")}</th><th scope="col" className="opt">{t("col.why")}</th></tr></thead>
          <tbody>
            {rows.map(({ node, cluster, s }, i) => (
              <tr key={`${cluster}/${node}/${s.source}`} data-row={`${node}/${s.source}`}>
                <td className="name">{rows[i - 1]?.node === node && rows[i - 1]?.cluster === cluster ? <span className="sr">{node}</span> : <Link to={hrefToNode(node, cluster)}>{node}</Link>}</td>
                <td className="mono">{s.source}</td>
                <td className="r num">{s.devices === null ? <Unknown reason={s.why_not ?? t("unknown.not_read")} /> : count(s.devices)}</td>
                <td><span className={`state ${s.state === "booked" ? "live" : s.state === "silent" ? "silent" : s.state === "estimated" ? "est-text" : "dim"}`}><span aria-hidden="true">{kMarks[s.state] ?? "○"} </span>{code("settings.state", s.state)}</span> <SimBadge quality={s.simulated ? "simulated" : ""} /></td>
                <td>{gives(s)}</td>
                <td title={isoText(s.last_read_at)}>{s.last_read_at === null ? <Unknown reason={s.why_not ?? t("unknown.not_read")} /> : age(s.last_read_at)}</td>
                <td className="opt"><Why reason={s.why_not} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <div className="foot-notes dim"><p>{t("settings.sources.note")}</p></div>
      <Coverage />
    </div>
  );
}

/** Which outputs of which tools are understood: read when it is opened. */
function Coverage(): JSX.Element {
  const { t, code } = useWords();
  const [open, setOpen] = useState(false);
  const list = useCoverage(open);
  const rows = list.data?.rows ?? [];
  return (
    <details className="coverage" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{t("settings.coverage")}</summary>
      <p className="dim">{t("settings.coverage.states")}</p>
      {list.isPending && open ? <Skeleton lines={8} /> : list.isError ? <ErrorBox error={list.error} what={t("settings.coverage")} retry={() => void list.refetch()} /> : (
        <table className="table wide">
          <thead><tr><th scope="col">{t("col.vendor")}</th><th scope="col">{t("col.tool")}</th><th scope="col">{t("col.form")}</th><th scope="col">{t("col.state")}</th><th scope="col">{t("col.agent_sources")}</th><th scope="col" className="opt">{t("col.note")}</th></tr></thead>
          <tbody>
            {rows.map((r, i) => (
              <tr key={`${r.tool}/${r.form}`}>
                <td className="name">{rows[i - 1]?.vendor === r.vendor ? <span className="sr">{r.vendor}</span> : r.vendor}</td>
                <td className="mono">{r.tool}</td>
                <td>{r.form === "-" ? <Unknown reason={r.note} /> : r.form}</td>
                <td>{r.form === "-" ? <Unknown reason={r.note} /> : code("settings.coverage.state", r.state.replace(" ", "_"))}</td>
                <td className="mono">{r.agent_sources === "" ? <Unknown reason={t("settings.coverage.parse_only")} /> : r.agent_sources}</td>
                <td className="opt">{r.note}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}
