import { expect, it } from "vitest";
import { en } from "../i18n/en";
import { zh } from "../i18n/zh";
import { plainReason } from "./sources";

it("puts the agent's reasons into plain words", () => {
  const cases: [string, string | null][] = [
    ["no NVIDIA card, driver or tool on this machine", "node.why.no_cards"],
    ["/sys/class/powercap/intel-rapl:0/energy_uj: Permission denied (since Linux 5.10 only root may read it)", "node.why.permission"],
    ["no RAPL: /sys/class/powercap: No such file or directory", "node.why.no_rapl"],
    ["no IPMI: /dev/ipmi0 isn't there", "node.why.no_ipmi"],
    ["no IPMI tool: neither ipmitool nor ipmi-dcmi is installed", "node.why.no_tool"],
    ["no snmpget: net-snmp's tools aren't installed", "node.why.no_tool"],
    ["no hwmon power sensor: /sys/class/hwmon has no power*_input", "node.why.no_hwmon"],
    ["DCMI can't be opened: libdcmi.so: cannot open shared object file", "node.why.library"],
    ["no answer for 12 s", "node.why.hangs"],
    ["tool_prints_[N/A]", "node.why.prints_none"],
    ["printed_zero_implausible", "node.why.prints_none"],
    ["default_table_has_no_power_column", "node.why.no_column"],
    ["no_reading_in_this_interval", "node.why.no_reading"],
    ["implausible: 9000 W at a limit of 700 W", "node.why.implausible"],
    ["counter_baseline", "node.why.baseline"],
    ["something nobody foresaw", null],
    ["", null],
  ];
  for (const [reason, key] of cases) expect(plainReason(reason), reason).toBe(key);
  expect(plainReason(null)).toBeNull();
});

it("knows every state and reason in both languages", () => {
  for (const key of ["node.source.ok", "node.source.failed", "node.source.starting", "node.why.permission", "node.why.crashed"] as const) {
    expect(en[key]).not.toBe("");
    expect(zh[key]).not.toBe(en[key]);
  }
});
