/** Sorting for tables: unknown is last in both directions, equal rows keep their order. */
export type Key = string | number | bigint | null | undefined;

export function compare(a: Key, b: Key, down: boolean): number {
  const ua = a === null || a === undefined || (typeof a === "number" && !Number.isFinite(a));
  const ub = b === null || b === undefined || (typeof b === "number" && !Number.isFinite(b));
  if (ua || ub) return Number(ua) - Number(ub);
  const c = typeof a === "string" && typeof b === "string" ? a.localeCompare(b, "en", { numeric: true }) : (a ?? 0) < (b ?? 0) ? -1 : (a ?? 0) > (b ?? 0) ? 1 : 0;
  return down ? -c : c;
}

export function sorted<R>(rows: readonly R[], key: (row: R) => Key, down: boolean): R[] {
  return [...rows].sort((a, b) => compare(key(a), key(b), down));
}

/** Keeps the order of rows already on screen (by id) so that a refresh does not move them; new rows come last. */
export function keepOrder<R>(rows: readonly R[], id: (row: R) => string, order: readonly string[]): R[] {
  const place = new Map(order.map((x, i) => [x, i]));
  return [...rows].sort((a, b) => (place.get(id(a)) ?? Infinity) - (place.get(id(b)) ?? Infinity) || 0);
}
