import { describe, expect, it } from "vitest";
import { bandOf } from "./band";

describe("the band of a prediction", () => {
  it("keeps its order and fits on the bar", () => {
    const band = bandOf({ energy_joules: 500, interval_90_joules: [480, 510] });
    expect(band).not.toBeNull();
    expect(band!.low).toBeLessThan(band!.middle);
    expect(band!.middle).toBeLessThan(band!.high);
    expect(band!.high).toBeLessThan(1);
  });
  it("isn't drawn of what can't be one", () => {
    for (const p of [[0, [0, 0]], [5, [6, 7]], [5, [1, 4]], [NaN, [1, 2]], [1, [-1, 2]]] as const)
      expect(bandOf({ energy_joules: p[0], interval_90_joules: p[1] })).toBeNull();
  });
});
