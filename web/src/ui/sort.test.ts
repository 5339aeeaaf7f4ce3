import { expect, it } from "vitest";
import { keepOrder, sorted } from "./sort";

it("puts unknown last in both directions", () => {
  const rows = [{ v: 2 }, { v: null }, { v: 0 }, { v: 10 }, { v: NaN }];
  expect(sorted(rows, (r) => r.v, false).map((r) => r.v)).toEqual([0, 2, 10, null, NaN]);
  expect(sorted(rows, (r) => r.v, true).map((r) => r.v)).toEqual([10, 2, 0, null, NaN]);
});
it("sorts names by their numbers", () => {
  expect(sorted(["gpu-10", "gpu-9"], (x) => x, false)).toEqual(["gpu-9", "gpu-10"]);
});
it("keeps rows where they are while the pointer is on them", () => {
  expect(keepOrder(["a", "b", "c"], (x) => x, ["c", "a"])).toEqual(["c", "a", "b"]);
});
