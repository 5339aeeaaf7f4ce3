import { known } from "../format/number";

export interface Band { low: number; middle: number; high: number }

/** Places of the band's ends and its middle on a bar from 0 to a little beyond the upper end; null = not drawable. */
export function bandOf(p: { energy_joules: number; interval_90_joules: readonly [number, number] }): Band | null {
  const low = known(p.interval_90_joules[0]);
  const high = known(p.interval_90_joules[1]);
  const middle = known(p.energy_joules);
  if (low === null || high === null || middle === null || high <= 0 || low > middle || middle > high || low < 0) return null;
  const end = high * 1.02;
  return { low: low / end, middle: middle / end, high: high / end };
}
