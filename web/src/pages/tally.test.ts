import { expect, it } from "vitest";
import { oneMoment, tally } from "./tally";

it("adds rows and the unattributed part exactly", () => {
  expect(tally({ rows: ["9007199254740993", "1", null], unattributed: "6", sum: "9007199254740994", complete: true })).toEqual({ total: 9007199254741000n, rest: 0n, mismatch: false });
});
it("prints the whole where a tenant has no unattributed part", () => {
  expect(tally({ rows: ["10"], unattributed: null, sum: "10", complete: true })).toEqual({ total: 10n, rest: 0n, mismatch: false });
});
it("says when the rows do not make the sum", () => {
  expect(tally({ rows: ["10"], unattributed: "5", sum: "99", complete: true }).mismatch).toBe(true);
});
it("knows nothing when nothing is known", () => {
  expect(tally({ rows: [null], unattributed: null, sum: null, complete: true }).total).toBeNull();
});
it("names what is on later pages", () => {
  expect(tally({ rows: ["10"], unattributed: "5", sum: "100", complete: false })).toEqual({ total: 105n, rest: 90n, mismatch: false });
});
it("raises no alarm over pages of different moments", () => {
  const page = (to: string, energy_uj: string): { from: string; to: string; sum: { energy_uj: string } } => ({ from: "a", to, sum: { energy_uj } });
  expect(oneMoment([page("b", "10"), page("b", "10")])).toBe(true);
  expect(oneMoment([page("b", "10"), page("c", "10")])).toBe(false);
  expect(oneMoment([page("b", "10"), page("b", "11")])).toBe(false);
  expect(tally({ rows: ["10"], unattributed: null, sum: "11", complete: true, comparable: false }).mismatch).toBe(false);
});
