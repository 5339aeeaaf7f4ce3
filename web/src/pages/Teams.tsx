/** Teams' carbon budgets of a month, the open orders of the market and its trades. */
import { useOrders, useQuotas, useTrades, type Order, type OrderList, type Quota, type QuotaList } from "../api/market";
import { usePrefs } from "../app/prefs";
import { useQueryValue } from "../app/router";
import { number, percent } from "../format/number";
import { useWords } from "../i18n";
import { Empty, ErrorBox, Skeleton } from "../ui/States";
import { Value } from "../ui/Value";
import { budgetParts, months } from "./budget";

export function Teams(): JSX.Element {
  const { t, range } = useWords();
  const { live } = usePrefs();
  const every = live ? 30_000 : false;
  const all = months(new Date());
  const [month, setMonth] = useQueryValue("month", all[1] ?? "");
  const [team] = useQueryValue("team");
  const quotas = useQuotas(month, team, every);
  return (
    <>
      <div className="toolbar page-head">
        <h1>{t("teams.title")}</h1>
        <label className="check">{t("teams.month")}<select value={month} onChange={(e) => setMonth(e.target.value)}>{(all.includes(month) ? all : [month, ...all]).map((m) => <option key={m} value={m}>{m}</option>)}</select></label>
        {quotas.data && <span className="dim">{range(quotas.data.from, quotas.data.to)}</span>}
      </div>
      <div className="grid">
        {quotas.isPending && <div className="card span12"><Skeleton lines={6} /></div>}
        {quotas.isError && <div className="span12"><ErrorBox error={quotas.error} what={t("what.quotas")} retry={() => void quotas.refetch()} /></div>}
        {quotas.data && <Budgets list={quotas.data} />}
        <Orders side="offers" month={month} every={every} />
        <Orders side="bids" month={month} every={every} />
        <Trades month={month} every={every} />
      </div>
    </>
  );
}

function Budgets({ list }: { list: QuotaList }): JSX.Element {
  const { t } = useWords();
  if (list.quotas.length === 0) return <div className="span12"><Empty>{t("teams.empty", { month: list.month })} <code>tidewatt quota set TEAM --kg 1000</code></Empty></div>;
  const over = list.quotas.some((q) => (q.overdraft_kg ?? 0) > 0);
  return (
    <section className="card span12" aria-label={t("teams.budgets")}>
      <div className="card-head"><h2>{t("teams.budgets")} <span className="dim">{t("teams.kg")}</span></h2></div>
      {!list.carbon_known && <p className="message warn">▲ {t("teams.no_factor")}</p>}
      <div className="scroll-x">
        <table className="table">
          <thead><tr>
            <th>{t("teams.c.team")}</th><th>{t("teams.c.bar")}</th>
            {(["budget", "used", "reserved", "offered", "left", ...(over ? (["overdraft"] as const) : []), "share", "projected"] as const).map((c) => <th key={c} className="r num">{t(`teams.c.${c}`)}</th>)}
          </tr></thead>
          <tbody>{list.quotas.map((q) => <BudgetRow key={q.team} q={q} over={over} />)}</tbody>
        </table>
      </div>
      <p className="dim foot-notes">{t("teams.legend")}</p>
    </section>
  );
}

function BudgetRow({ q, over }: { q: Quota; over: boolean }): JSX.Element {
  const { t } = useWords();
  const why = t("teams.why_unknown");
  const late = q.projected_kg !== null && q.projected_kg > q.budget_kg;
  const m = q.made_of;
  const made = t("teams.made_of", { allotted: number(m.allotted_kg), adjusted: number(m.adjusted_kg), transferred: number(m.transferred_kg), carried: number(m.carried_kg), bought: number(m.bought_kg), sold: number(m.sold_kg) });
  const cell = (x: unknown): JSX.Element => <Value text={number(x)} reason={why} />;
  return (
    <tr data-row>
      <td>{q.team}</td>
      <td className="budget-cell"><Bar q={q} /></td>
      <td className="r num" title={made}>{number(q.budget_kg)}</td>
      <td className="r num">{cell(q.used_kg)}</td>
      <td className="r num">{q.reserved_kg !== null && q.reserved_kg > 0 ? "≈ " : ""}{cell(q.reserved_kg)}</td>
      <td className="r num">{number(q.offered_kg)}</td>
      <td className="r num">{cell(q.remaining_kg)}</td>
      {over && <td className={`r num ${(q.overdraft_kg ?? 0) > 0 ? "bad-text" : ""}`}>{cell(q.overdraft_kg)}</td>}
      <td className="r num"><Value text={percent(q.utilization)} reason={why} /></td>
      <td className={`r num ${late ? "warn-text" : ""}`}><Value text={number(q.projected_kg)} reason={t("teams.why_no_pace")} />{late ? " ▲" : ""}</td>
    </tr>
  );
}

function Bar({ q }: { q: Quota }): JSX.Element {
  const { t } = useWords();
  const p = budgetParts(q);
  if (p === null) return <Value text="—" reason={t("teams.why_unknown")} />;
  const label = t("teams.bar", { used: number(q.used_kg), reserved: number(q.reserved_kg), offered: number(q.offered_kg), budget: number(q.budget_kg), over: number(q.overdraft_kg) });
  return (
    <div className="budget-bar" role="img" aria-label={label} title={label}>
      {(["used", "reserved", "offered", "over"] as const).map((part) => p[part] > 0 && <span key={part} className={`budget-${part}`} style={{ width: `${p[part] * 100}%` }} />)}
      {p.mark < 1 && <span className="budget-mark" style={{ left: `${p.mark * 100}%` }} />}
    </div>
  );
}

function rowsOf(list: OrderList | undefined, side: "offers" | "bids"): Order[] {
  return (side === "offers" ? list?.offers : list?.bids) ?? [];
}

function Orders({ side, month, every }: { side: "offers" | "bids"; month: string; every: number | false }): JSX.Element {
  const { t, code, time } = useWords();
  const orders = useOrders(side, month, every);
  const rows = rowsOf(orders.data, side);
  return (
    <section className="card span6" aria-label={t(`teams.${side}`)}>
      <div className="card-head"><h2>{t(`teams.${side}`)} {orders.data && <span className="dim">{code("teams.matching", orders.data.matching)}</span>}</h2></div>
      {orders.isPending && <Skeleton lines={3} />}
      {orders.isError && <ErrorBox error={orders.error} what={t("what.orders")} retry={() => void orders.refetch()} />}
      {orders.data && rows.length === 0 && <p className="dim">{t(`teams.${side}.empty`)}</p>}
      {rows.length > 0 && (
        <table className="table">
          <thead><tr><th>{t("teams.c.order")}</th><th className="r num">{t("teams.kg")}</th><th className="r num">{t("teams.c.price", { currency: orders.data?.currency ?? "" })}</th><th>{t("teams.c.team")}</th><th>{t("teams.c.at")}</th></tr></thead>
          <tbody>{rows.map((o) => <tr key={o.id} data-row><td>{o.id}</td><td className="r num">{number(o.left_kg)}</td><td className="r num">{number(o.price_per_kg, 4)}</td><td>{o.mine ? t("teams.mine") : <Value text={o.team ?? "—"} reason={t("teams.why_hidden")} />}</td><td>{time(o.posted_at)}</td></tr>)}</tbody>
        </table>
      )}
    </section>
  );
}

function Trades({ month, every }: { month: string; every: number | false }): JSX.Element {
  const { t, time } = useWords();
  const trades = useTrades(month, every);
  const rows = trades.data?.trades ?? [];
  const name = (x: string | null): JSX.Element => <Value text={x ?? "—"} reason={t("teams.why_hidden")} />;
  return (
    <section className="card span12" aria-label={t("teams.trades")}>
      <div className="card-head"><h2>{t("teams.trades")}</h2></div>
      {trades.isPending && <Skeleton lines={3} />}
      {trades.isError && <ErrorBox error={trades.error} what={t("what.trades")} retry={() => void trades.refetch()} />}
      {trades.data && rows.length === 0 && <p className="dim">{t("teams.trades.empty")}</p>}
      {rows.length > 0 && (
        <table className="table">
          <thead><tr><th>{t("teams.c.at")}</th><th className="r num">{t("teams.kg")}</th><th className="r num">{t("teams.c.price", { currency: trades.data?.currency ?? "" })}</th><th className="r num">{t("teams.c.cost", { currency: trades.data?.currency ?? "" })}</th><th>{t("teams.c.seller")}</th><th>{t("teams.c.buyer")}</th></tr></thead>
          <tbody>{rows.map((x, i) => <tr key={`${x.record} ${i}`} data-row><td>{time(x.at)}</td><td className="r num">{number(x.amount_kg)}</td><td className="r num">{number(x.price_per_kg, 4)}</td><td className="r num">{number(x.cost, 4)}</td><td>{name(x.seller)}</td><td>{name(x.buyer)}</td></tr>)}</tbody>
        </table>
      )}
    </section>
  );
}
