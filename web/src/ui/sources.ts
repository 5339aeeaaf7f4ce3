/** Why a source gives nothing, in plain words of the reader's language; the agent's own words stand beside them. */
import type { MessageKey } from "../i18n";

/** The server's own sentences: nothing is lost when they are shown in the reader's language alone. */
const kOwn: Readonly<Record<string, MessageKey>> = {
  "the agent is silent": "node.why.silent",
  "the last sample is old": "node.why.old",
  "the source gave no power in the last round": "node.why.no_power",
  "gave no power in the last round": "node.why.no_power",
  "estimates are shown apart and never booked": "node.why.estimate",
  "not read yet": "node.why.not_read",
  "nothing came since its last sample: look at the agent there": "node.why.since",
};

export const ownReason = (reason: string | null | undefined): MessageKey | null => (reason ? kOwn[reason] ?? null : null);

const kPatterns: readonly (readonly [RegExp, MessageKey])[] = [
  [/^tool_prints_|printed_zero|^sentinel|_is_no number/i, "node.why.prints_none"],
  [/no_power_column|no power column/i, "node.why.no_column"],
  [/no_reading_in_this_interval/i, "node.why.no_reading"],
  [/^implausible/i, "node.why.implausible"],
  [/counter_baseline|baseline/i, "node.why.baseline"],
  [/frozen|stands? still/i, "node.why.frozen"],
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
