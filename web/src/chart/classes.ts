/** The ordered colour scales: fixed breaks, so that a colour means the same on every page. */
import { known } from "../format/number";

export interface Scale { readonly breaks: readonly number[]; readonly prefix: "ci" | "cfe" }
/** Carbon intensity, g/kWh. */
export const kCiScale: Scale = { breaks: [50, 100, 200, 300, 450, 600], prefix: "ci" };
/** Clean share, 0..1. */
export const kCfeScale: Scale = { breaks: [0.1, 0.25, 0.4, 0.6, 0.75, 0.9], prefix: "cfe" };

/** 0..6; null for what isn't known, which has no colour of the scale. */
export function classOf(value: unknown, scale: Scale): number | null {
  const v = known(value);
  return v === null ? null : scale.breaks.filter((b) => v >= b).length;
}

/** Hourly means of slots by UTC hour; an hour of which less than half is known is absent. */
export function hourlyMeans(points: readonly { start: string; end: string; gco2_per_kwh: number }[]): Map<number, number> {
  const kHour = 3_600_000;
  const sums = new Map<number, [sum: number, share: number]>();
  for (const p of points) {
    const end = Date.parse(p.end);
    for (let at = Date.parse(p.start); at < end;) {
      const hour = Math.floor(at / kHour) * kHour;
      const until = Math.min(end, hour + kHour);
      const share = (until - at) / kHour;
      const [sum, known_] = sums.get(hour) ?? [0, 0];
      sums.set(hour, [sum + p.gco2_per_kwh * share, known_ + share]);
      at = until;
    }
  }
  return new Map([...sums].filter(([, [, share]]) => share >= 0.5 - 1e-9).map(([hour, [sum, share]]) => [hour, sum / share]));
}
