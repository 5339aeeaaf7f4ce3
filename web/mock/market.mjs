// Budgets, orders and trades of the mock server: a usual team, one beyond its budget, one that just began.
import { iso } from "./data.mjs";

const made = (allotted, bought = 0, sold = 0) => ({ allotted_kg: allotted, adjusted_kg: 0, transferred_kg: 0, carried_kg: 0, bought_kg: bought, sold_kg: sold });
const row = (team, month, known, budget, used, reserved, offered, from) => {
  const free = budget - used - reserved - offered;
  const shown = (x) => (known ? x : null);
  return { team, month, budget_kg: budget, used_kg: shown(used), reserved_kg: shown(reserved), offered_kg: offered, remaining_kg: shown(Math.max(0, free)), overdraft_kg: shown(Math.max(0, -free)), expired_kg: 0, utilization: shown((used + reserved) / budget), projected_kg: shown(used * 1.5), remaining_ug: shown(String(BigInt(Math.round(Math.max(0, free))) * 1_000_000_000n)), made_of: from, money: { cash: 120.5, locked: 8 } };
};

export function market(world, path, query, session, known, empty) {
  const month = query.get("month") || iso(world.now).slice(0, 7);
  const mine = (team) => session.role !== "tenant" || team === session.team;
  const whose = (team) => (mine(team) ? team : null);
  const order = (id, side, team, left, price) => ({ id, side, team: whose(team), mine: session.role === "tenant" && mine(team), month, amount_kg: left + 5, left_kg: left, price_per_kg: price, posted_at: iso(world.now - id * 60_000) });
  if (path === "/quotas") {
    const all = empty ? [] : [row("vision", month, known, 1000, 612, 88, 0, made(1000)), row("speech", month, known, 200, 231.5, 0, 0, made(180, 20)), row("chat", month, known, 500, 0.0003, 12, 30, made(500, 0, 20))];
    return { month, from: `${month}-01T00:00:00Z`, to: iso(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1)), carbon_known: known, currency: "EUR", quotas: all.filter((q) => mine(q.team)) };
  }
  if (path === "/market/offers") return { month, matching: "continuous", currency: "EUR", total: empty ? 0 : 2, offers: empty ? [] : [order(31, "offer", "chat", 30, 0.12), order(12, "offer", "vision", 4, 0.2)] };
  if (path === "/market/bids") return { month, matching: "continuous", currency: "EUR", total: empty ? 0 : 1, bids: empty ? [] : [order(35, "bid", "speech", 25, 0.1)] };
  if (path === "/market/trades") return { currency: "EUR", trades: empty ? [] : [{ record: 29, at: iso(world.now - 7_200_000), month, amount_kg: 20, price_per_kg: 0.11, cost: 2.2, seller: whose("chat"), buyer: whose("speech") }] };
  return null;
}
