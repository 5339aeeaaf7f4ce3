import { describe, expect, it } from "vitest";
import type { Quota } from "../api/market";
import { budgetParts, months } from "./budget";

const quota = (over: Partial<Quota>): Quota => ({
  team: "vision", month: "2026-11", budget_kg: 1000, used_kg: 600, reserved_kg: 100, offered_kg: 50, remaining_kg: 250, overdraft_kg: 0, expired_kg: 0, utilization: 0.7, projected_kg: 900,
  made_of: { allotted_kg: 1000, adjusted_kg: 0, transferred_kg: 0, carried_kg: 0, bought_kg: 0, sold_kg: 0 }, money: { cash: 0, locked: 0 }, ...over,
});

describe("a budget's bar", () => {
  it("is as long as the budget", () => {
    expect(budgetParts(quota({}))).toEqual({ used: 0.6, reserved: 0.1, offered: 0.05, over: 0, mark: 1 });
  });
  it("goes on past its end by the overdraft", () => {
    const p = budgetParts(quota({ used_kg: 1250, reserved_kg: 0, offered_kg: 0, overdraft_kg: 250 }));
    expect(p).toEqual({ used: 0.8, reserved: 0, offered: 0, over: 0.2, mark: 0.8 });
  });
  it("isn't drawn where use isn't known", () => {
    expect(budgetParts(quota({ used_kg: null }))).toBeNull();
  });
  it("is empty for a budget of nothing", () => {
    expect(budgetParts(quota({ budget_kg: 0, used_kg: 0, reserved_kg: 0, offered_kg: 0 }))).toEqual({ used: 0, reserved: 0, offered: 0, over: 0, mark: 1 });
  });
});

it("lists the next month first, over a turn of the year", () => {
  const list = months(new Date("2026-12-15T00:00:00Z"));
  expect(list.slice(0, 3)).toEqual(["2027-01", "2026-12", "2026-11"]);
  expect(list).toHaveLength(14);
});
