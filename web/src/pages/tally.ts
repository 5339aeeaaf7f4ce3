/** Conservation on screen: the rows, what no task explains, and the total, exact to the microjoule. */
import { microjoules } from "../format/number";

interface Input {
  rows: readonly (string | null)[];
  unattributed: string | null;
  /** The server's sum of all matching tasks, on whatever page. */
  sum: string | null;
  /** All rows are loaded. */
  complete: boolean;
  /** The pages were loaded at one moment; otherwise their rows need not make the sum. */
  comparable?: boolean;
}

interface Page { from: string; to: string; sum: { energy_uj: string | null } }

/** True when all pages tell of the same moment: the running hour may have grown between two of them. */
export const oneMoment = (pages: readonly Page[]): boolean =>
  pages.every((p) => p.from === pages[0]?.from && p.to === pages[0]?.to && p.sum.energy_uj === pages[0]?.sum.energy_uj);

export interface Tally {
  /** Rows + rest + unattributed. */
  total: bigint | null;
  /** Tasks on pages not loaded yet. */
  rest: bigint | null;
  /** The rows do not make the server's sum. */
  mismatch: boolean;
}

export function tally({ rows, unattributed, sum, complete, comparable = true }: Input): Tally {
  const loose = microjoules(unattributed);
  const printed = microjoules(sum);
  let listed: bigint | null = null;
  for (const r of rows) {
    const v = microjoules(r);
    if (v !== null) listed = (listed ?? 0n) + v;
  }
  if (!complete) {
    const rest = printed === null ? null : printed - (listed ?? 0n);
    return { total: printed === null ? null : printed + (loose ?? 0n), rest: rest !== null && rest >= 0n ? rest : null, mismatch: comparable && rest !== null && rest < 0n };
  }
  const total = listed === null && loose === null ? null : (listed ?? 0n) + (loose ?? 0n);
  const mismatch = comparable && printed !== null && total !== null && printed !== (listed ?? 0n);
  return { total, rest: 0n, mismatch };
}
