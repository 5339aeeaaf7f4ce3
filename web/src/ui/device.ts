/** What a device of a node is called on every page. */
import type { MessageKey, Words } from "../i18n";

const kNames: Readonly<Record<string, MessageKey>> = { gpu: "node.gpu", cpu_package: "node.cpu_package", dram: "node.dram" };

export function deviceName(t: Words["t"], d: { domain: string; index: number }): string {
  const key = kNames[d.domain];
  return key ? t(key, { i: d.index }) : t("node.domain", { domain: d.domain, i: d.index });
}
