/** Why a source gives nothing, in plain words of the reader's language; the agent's own words stand beside them. */
import type { MessageKey } from "../i18n";

const kPatterns: readonly (readonly [RegExp, MessageKey])[] = [
  [/permission denied|operation not permitted/i, "node.why.permission"],
  [/no answer|timed out|deadline|no end within/i, "node.why.hangs"],
  [/ipmi0/i, "node.why.no_ipmi"],
  [/no RAPL/i, "node.why.no_rapl"],
  [/no power sensor|hwmon/i, "node.why.no_hwmon"],
  [/can't be opened/i, "node.why.library"],
  [/no \S+ card, driver or tool|no device/i, "node.why.no_cards"],
  [/isn't installed|(aren't|is) installed|not installed|no such tool|not found in|isn't in/i, "node.why.no_tool"],
  [/crashed|its process|ended by signal|exited/i, "node.why.crashed"],
];

export function plainReason(reason: string | null | undefined): MessageKey | null {
  if (!reason) return null;
  return kPatterns.find(([pattern]) => pattern.test(reason))?.[1] ?? null;
}
