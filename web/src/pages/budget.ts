/** The parts of a budget's bar, in shares of its width. */
import type { Quota } from "../api/market";

export interface BudgetParts { used: number; reserved: number; offered: number; over: number; mark: number }

/** Of a bar as long as the budget, or as long as what was taken of it where that is more. null = not known. */
export function budgetParts(q: Quota): BudgetParts | null {
  if (q.used_kg === null || q.reserved_kg === null || q.overdraft_kg === null) return null;
  const taken = q.used_kg + q.reserved_kg + q.offered_kg;
  const whole = Math.max(q.budget_kg, taken);
  if (!(whole > 0)) return { used: 0, reserved: 0, offered: 0, over: 0, mark: 1 };
  const over = Math.min(q.overdraft_kg, taken);
  const usedIn = Math.max(0, q.used_kg - over);
  const reservedIn = Math.max(0, q.reserved_kg - Math.max(0, over - q.used_kg));
  return { used: usedIn / whole, reserved: reservedIn / whole, offered: q.offered_kg / whole, over: over / whole, mark: Math.min(1, Math.max(0, q.budget_kg) / whole) };
}

/** This month, the twelve before and the next, latest first. */
export function months(now: Date): string[] {
  return Array.from({ length: 14 }, (_, i) => {
    const d = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1 - i, 1));
    return `${d.getUTCFullYear()}-${String(d.getUTCMonth() + 1).padStart(2, "0")}`;
  });
}
