// A deterministic cluster for developing and testing the pages. All booked amounts are BigInt microjoules, so that
// node = sum of devices = sum of tasks + unattributed holds exactly, as it does in the ledger.

const kUjPerKwh = 3_600_000_000_000n;
const kHour = 3_600_000;

function hash(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  h ^= h >>> 15;
  h = Math.imul(h, 2246822507);
  h ^= h >>> 13;
  return (h >>> 0) / 4294967296;
}

export const kwh = (uj) => (uj === null ? null : Number(uj / kUjPerKwh) + Number(uj % kUjPerKwh) / Number(kUjPerKwh));
const str = (uj) => (uj === null ? null : uj.toString());

function makeNodes(big) {
  const nodes = [];
  const add = (id, zone, vendor, model, count, source, limit, extra = {}) =>
    nodes.push({ id, zone, region: zone === "CN-NM" ? "cn-north" : "eu-north", vendor, model, count, source, limit, cpu: true, ...extra });
  for (let i = 1; i <= 6; i += 1) add(`gpu-a0${i}`, "CN-NM", "nvidia", "H100", 8, "nvml", 700, i === 1 ? { platform: true } : {});
  add("gpu-a07", "CN-NM", "huawei", "Ascend 910B", 8, "npu-smi", null, { silentFor: 732, neverKnown: true });
  for (let i = 1; i <= 4; i += 1) add(`gpu-b0${i}`, "SE", "nvidia", "H200", 16, "nvml", 700);
  for (let i = 1; i <= 6; i += 1) add(`amd-c0${i}`, "SE", "amd", "MI300X", 8, "rocm_smi", 750, { unknownCpu: i === 2 });
  for (let i = 1; i <= 12; i += 1) add(`cpu-d${String(i).padStart(2, "0")}`, "CN-NM", "", "", 0, "rapl", null);
  add("idle-e01", "SE", "nvidia", "L4", 1, "nvidia-smi", 72, { trueZero: true });
  if (big) for (let i = 0; i < 10_412 - 30; i += 1) add(`wide-${String(i).padStart(5, "0")}`, "SE", "nvidia", "L40S", 0, "rapl", null);
  return nodes;
}

const kTasks = [
  ["train-7", "vision", "training", "gpu-a01", [0, 1, 2], null], ["train-8", "vision", "training", "gpu-a01", [3], 66],
  ["llm-serve-1", "nlp", "inference", "gpu-a01", [3], 34], ["llm-serve-2", "nlp", "inference", "gpu-a01", [4, 5], null],
  ["pretrain-xl", "nlp", "training", "gpu-b01", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], null],
  ["pretrain-l", "nlp", "training", "gpu-b02", [0, 1, 2, 3, 4, 5, 6, 7], null], ["fold-12", "bio", "batch", "gpu-b02", [8, 9, 10, 11], null],
  ["fold-13", "bio", "batch", "gpu-b02", [12], 50], ["dock-4", "bio", "batch", "gpu-b02", [12], 50],
  ["etl-22", "data", "batch", "gpu-a02", [0, 1], null], ["asr-train-3", "speech", "training", "gpu-a02", [2, 3, 4, 5], null],
  ["tts-serve", "speech", "inference", "gpu-a02", [6], 40], ["asr-serve", "speech", "inference", "gpu-a02", [6], 60],
  ["diffuse-2", "vision", "training", "gpu-a03", [0, 1, 2, 3, 4, 5, 6, 7], null], ["eval-suite", "vision", "batch", "gpu-a04", [0, 1], null],
  ["rl-agent-9", "control", "training", "gpu-a04", [2, 3, 4], null], ["weather-1", "climate", "batch", "amd-c01", [0, 1, 2, 3, 4, 5, 6, 7], null],
  ["weather-2", "climate", "batch", "amd-c02", [0, 1, 2, 3], null], ["ocean-7", "climate", "batch", "amd-c02", [4, 5, 6, 7], null],
  ["cfd-31", "climate", "batch", "amd-c03", [0, 1, 2, 3], null], ["notebook-ana", "data", "interactive", "gpu-a05", [0], null],
  ["notebook-liu", "data", "interactive", "gpu-a05", [1], null], ["embed-5", "nlp", "inference", "gpu-a05", [2, 3], null],
  ["rank-2", "nlp", "inference", "gpu-a05", [4], null], ["seg-14", "vision", "training", "gpu-a06", [0, 1, 2, 3], null],
  ["npu-port-1", "nlp", "training", "gpu-a07", [0, 1, 2, 3], null], ["tiny-probe", "data", "interactive", "idle-e01", [0], null],
];

/** Watts of one device at t; null = unknown. The shape repeats, so that every run draws the same picture. */
function deviceWatts(node, index, t, now) {
  if (t >= now || node.neverKnown) return null;
  if (node.silentFor && t > now - node.silentFor * 1000) return null;
  if (inGap(node, index, t, now)) return null;
  if (node.trueZero) return 0;
  const seed = hash(`${node.id}/${index}`);
  const hours = t / kHour;
  const load = 0.55 + 0.3 * Math.sin(hours * 0.9 + seed * 6.28) + 0.1 * Math.sin(hours * 6.1 + seed * 40);
  const busy = hash(`${node.id}/${index}/${Math.floor(hours / 2 + seed * 3)}`) > 0.22 ? 1 : 0.12;
  const noise = (hash(`${node.id}/${index}/${Math.floor(t / 20_000)}`) - 0.5) * 0.06;
  const top = node.limit ?? 240;
  return Math.max(top * 0.09, top * Math.min(0.99, Math.max(0.1, (load + noise) * busy)));
}

const cpuWatts = (node, index, t, now) => {
  if (t >= now || node.neverKnown || inGap(node, -1, t, now)) return null;
  const seed = hash(`${node.id}/cpu/${index}`);
  return 90 + 60 * Math.sin(t / kHour * 0.7 + seed * 6) + 18 * hash(`${node.id}/c/${Math.floor(t / 60_000)}`) + 40 * seed;
};

/** Gaps by node: an 11 minute hole on gpu-a01, one device of it unknown later, a long one on amd-c03. */
export function gapsOf(node, now) {
  const gaps = [];
  if (node.outage) gaps.push({ from: node.outage, to: node.outage + kHour, cause: "no_data" });
  if (node.id === "gpu-a01") {
    gaps.push({ from: now - 180 * 60_000, to: now - 169 * 60_000, cause: "no_data" });
    gaps.push({ from: now - 40 * 60_000, to: now - 33 * 60_000, cause: "no_data" });
    gaps.push({ from: now - 100 * 60_000, to: now - 80 * 60_000, cause: "unknown", device: 2 });
  }
  if (node.id === "amd-c03") gaps.push({ from: now - 9 * kHour, to: now - 5 * kHour, cause: "no_data" });
  if (node.id === "gpu-b03") gaps.push({ from: now - 26 * 60_000, to: now - 21 * 60_000, cause: "no_data" });
  return gaps;
}

function inGap(node, index, t, now) {
  if (node.outage && t >= node.outage && t < node.outage + kHour) return true;
  return gapsOf(node, now).some((g) => t >= g.from && t < g.to && (g.device === undefined || g.device === index));
}

export class World {
  constructor({ now, scenario }) {
    this.now = now;
    this.scenario = scenario;
    this.nodes = scenario === "empty" ? [] : makeNodes(scenario === "big");
    if (scenario === "partial") for (const n of this.nodes) n.outage = Math.floor((now - 14 * kHour) / kHour) * kHour;
    this.byId = new Map(this.nodes.map((n) => [n.id, n]));
    this.simulated = (node) => scenario === "sim" || (scenario === "mixed" && node.id.startsWith("amd"));
    this.cells = new Map();
    this.memo = new Map();
  }

  /** The domains whose rows make a node's total: devices, then two CPU packages. */
  parts(node) {
    const out = [];
    for (let i = 0; i < node.count; i += 1) out.push({ domain: "gpu", index: i });
    if (node.cpu && node.source === "rapl") out.push({ domain: "cpu_package", index: 0 }, { domain: "cpu_package", index: 1 });
    return out;
  }

  watts(node, part, t) {
    return part.domain === "gpu" ? deviceWatts(node, part.index, t, this.now) : cpuWatts(node, part.index, t, this.now);
  }

  /** One hour of one part: exact energy, covered and gap seconds. */
  cell(node, part, hour) {
    const key = `${node.id}/${part.domain}/${part.index}/${hour}`;
    let cell = this.cells.get(key);
    if (cell) return cell;
    const end = Math.min(hour + kHour, this.now);
    const step = node.id.startsWith("wide") ? kHour : 60_000;
    let uj = 0n;
    let covered = 0;
    let gap = 0;
    for (let t = hour; t < end; t += step) {
      const seconds = Math.min(step, end - t) / 1000;
      const w = this.watts(node, part, t);
      if (w === null) gap += seconds;
      else {
        covered += seconds;
        uj += BigInt(Math.round(w * seconds * 1e6));
      }
    }
    cell = { uj, covered, gap };
    this.cells.set(key, cell);
    return cell;
  }

  total(list, from, to) {
    let uj = 0n;
    let covered = 0;
    let gap = 0;
    let rows = 0;
    for (const { node, part } of list) {
      for (let h = Math.floor(from / kHour) * kHour; h < to; h += kHour) {
        const c = this.cell(node, part, h);
        uj += c.uj;
        covered += c.covered;
        gap += c.gap;
        if (c.covered > 0 || c.gap > 0) rows += 1;
      }
    }
    return { uj: covered > 0 ? uj : null, covered, gap, rows, coverage: covered + gap > 0 ? covered / (covered + gap) : null };
  }

  partsOf(node) {
    return this.parts(node).map((part) => ({ node, part }));
  }

  tasks() {
    if (this.scenario === "empty") return [];
    return kTasks.map(([id, team, kind, nodeId, devices, share]) => ({ id, team, kind, node: this.byId.get(nodeId), devices, share }));
  }

  /** A task's part of its devices: a shared card is split by integer division, the later holder takes the remainder. */
  taskEnergy(task, from, to) {
    let sum = null;
    let covered = 0;
    let gap = 0;
    let rows = 0;
    const allocations = task.devices.map((index) => {
      const whole = this.total([{ node: task.node, part: { domain: "gpu", index } }], from, to);
      let uj = whole.uj;
      if (uj !== null && task.share !== null) {
        const peers = this.tasks().filter((o) => o.node === task.node && o.devices.includes(index));
        const first = peers[0];
        const part = (uj * BigInt(first.share)) / 100n;
        uj = first.id === task.id ? part : uj - part;
      }
      if (uj !== null) sum = (sum ?? 0n) + uj;
      covered += whole.covered;
      gap += whole.gap;
      rows += whole.rows;
      return { node_id: task.node.id, device_index: index, domain: "gpu", energy_kwh: kwh(uj), energy_uj: str(uj), coverage: whole.coverage, partial_seconds: 0, attribution: whole.uj === null ? "unknown" : task.share === null ? "exclusive" : "shared_estimated", first_sample_at: whole.uj === null ? null : iso(from), last_sample_at: whole.uj === null ? null : iso(Math.min(to, this.now - 8000)) };
    });
    return { uj: sum, covered, gap, rows, coverage: covered + gap > 0 ? covered / (covered + gap) : null, allocations };
  }
}

export const iso = (t) => new Date(t).toISOString();
export { kHour, kUjPerKwh, str };
