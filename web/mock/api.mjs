// Answers of the mock server, in the shapes of the HTTP API.
import { gapsOf, iso, kHour, kwh, str } from "./data.mjs";
import { signalNow } from "./carbon.mjs";

const kRanges = { "1h": 1, "6h": 6, "24h": 24, "7d": 168, "30d": 720 };

/** What a node's agent says of its sources. */
function sourceStates(node) {
  const ok = (source) => ({ source, state: "ok", reason: null });
  const failed = (source, reason) => ({ source, state: "failed", reason });
  const own = node.neverKnown
    ? [failed("huawei", "DCMI can't be opened: libdcmi.so: cannot open shared object file: No such file or directory (looked for libdcmi.so, /usr/local/dcmi/libdcmi.so)")]
    : node.count > 0 ? [ok(node.vendor)] : [failed("nvidia", "no NVIDIA card, driver or tool on this machine")];
  const rapl = node.source === "rapl" ? ok("rapl") : failed("rapl", "/sys/class/powercap/intel-rapl:0/energy_uj: Permission denied (since Linux 5.10 only root may read it: run the agent as root or give it CAP_DAC_READ_SEARCH)");
  return [...own, rapl, failed("hwmon", "no hwmon power sensor: /sys/class/hwmon has no power*_input"), node.platform ? ok("ipmi") : { source: "ipmi", state: "starting", reason: null }];
}

export class Problem extends Error {
  constructor(status, code, detail) {
    super(detail);
    Object.assign(this, { status, code, detail });
  }
}

/** The hours that a total covers: whole UTC hours up to now. */
function period(world, query) {
  if (query.get("from")) return { from: Date.parse(query.get("from")), to: Date.parse(query.get("to") ?? iso(world.now)) };
  const name = query.get("range") ?? "24h";
  if (!(name in kRanges)) throw new Problem(400, "bad_range", `range "${name}" is not one of 1h, 6h, 24h, 7d, 30d`);
  const hours = kRanges[name];
  return { from: Math.floor((world.now - hours * kHour) / kHour) * kHour, to: Math.ceil(world.now / kHour) * kHour };
}

function exactPeriod(world, query) {
  if (query.get("from")) return { from: Date.parse(query.get("from")), to: Math.min(Date.parse(query.get("to") ?? iso(world.now)), world.now) };
  return { from: world.now - (kRanges[query.get("range") ?? "24h"] ?? 24) * kHour, to: world.now };
}

export class Api {
  constructor(world, session) {
    this.world = world;
    this.session = session;
    this.tenant = session.role === "tenant";
    this.configured = world.scenario !== "placeholder" && world.scenario !== "hidden";
    this.visible = this.configured || session.role === "ops";
    this.factor = this.configured
      ? { value: 0.5366, unit: "kgCO2/kWh", gas: "co2", source: "MEE 2022", configured: true, year: 2022 }
      : { value: 0.55, unit: "kgCO2e/kWh", gas: "co2e", source: "placeholder", configured: false, year: null };
  }

  carbon(uj) {
    if (!this.visible) return {};
    return { carbon_kgco2e: uj === null ? null : kwh(uj) * this.factor.value };
  }

  sessionBody() {
    const { world, session } = this;
    return { role: session.role, team: session.team, name: session.name, expires_at: iso(world.now + 8 * kHour), version: "0.1.0",
      simulated: world.scenario === "sim" || world.scenario === "mixed", factor_configured: this.configured,
      replay: world.scenario === "replay", curve_retention_seconds: 604_800, max_gap_seconds: 60 };
  }

  energy(scope, id, t, range, more = {}) {
    const quality = this.world.scenario === "sim" ? "simulated" : this.world.scenario === "mixed" ? "mixed" : "measured";
    const counter = t.uj === null ? 0n : (t.uj * 81n) / 100n;
    const integrated = t.uj === null ? 0n : t.uj - counter;
    const notes = [];
    if (t.gap > 0) notes.push({ code: "gap", text: `${(t.coverage * 100).toFixed(1)}% covered; real energy is higher than shown`, params: { coverage_percent: t.coverage * 100, gap_seconds: t.gap } });
    if (this.visible && !this.configured) notes.push({ code: "placeholder_factor", text: "the factor is a placeholder", params: { value: 0.55 } });
    if (quality !== "measured") notes.push({ code: "simulated", text: "simulated, never enters reports or quotas", params: {} });
    notes.push({ code: "total_hours", text: "whole UTC hours", params: { from: iso(range.from), to: iso(range.to) } });
    if (t.uj === null) notes.push({ code: "no_data", text: "no row matched", params: {} });
    return {
      scope, id, cluster: "default", from: iso(range.from), to: iso(range.to),
      energy_kwh: kwh(t.uj), energy_uj: str(t.uj), coverage: t.coverage,
      covered_seconds: Math.round(t.covered), gap_seconds: Math.round(t.gap), partial_seconds: 0, shared_seconds: more.shared_seconds ?? 0,
      attribution: more.attribution ?? null,
      method: t.uj === null ? null : { counter_kwh: kwh(counter), counter_uj: str(counter), integrated_kwh: kwh(integrated), integrated_uj: str(integrated) },
      quality: t.uj === null ? null : quality, open_gap_seconds: 0, simulated_uj: quality === "simulated" ? str(t.uj ?? 0n) : "0", spread_uj: "0",
      shared_energy_kwh: kwh(more.shared ?? 0n), shared_energy_uj: str(more.shared ?? 0n),
      ...(more.unattributed === undefined ? {} : { unattributed_kwh: kwh(more.unattributed), unattributed_uj: str(more.unattributed) }),
      rows: t.rows, first_sample_at: t.uj === null ? null : iso(range.from), last_sample_at: t.uj === null ? null : iso(this.world.now - 8000),
      domains: more.domains ?? [], ...this.carbon(t.uj),
      ...(this.visible ? { emission_factor: this.factor } : { carbon_hidden_reason: "no_factor_configured" }),
      notes: [...notes, ...(more.notes ?? [])],
    };
  }

  tasksSeen() {
    const all = this.world.tasks();
    return this.session.role === "tenant" ? all.filter((t) => t.team === this.session.team) : all;
  }

  /** What a team is told: the sum of its tasks, with nothing of what others used. */
  ofTasks(tasks, range) {
    const sum = { uj: null, covered: 0, gap: 0, rows: 0 };
    for (const task of tasks) {
      const t = this.world.taskEnergy(task, range.from, range.to);
      if (t.uj !== null) sum.uj = (sum.uj ?? 0n) + t.uj;
      sum.covered += t.covered;
      sum.gap += t.gap;
      sum.rows += t.rows;
    }
    return { ...sum, coverage: sum.covered + sum.gap > 0 ? sum.covered / (sum.covered + sum.gap) : null };
  }

  allParts() {
    // The wide cluster shows its first nodes in the totals: it is there to test lists, not sums.
    return this.world.nodes.slice(0, 60).flatMap((n) => this.world.partsOf(n));
  }

  /** Energy of all devices and what no task explains. */
  cluster(range) {
    if (this.tenant) return this.ofTasks(this.tasksSeen(), range);
    const key = `${range.from}/${range.to}`;
    let found = this.world.memo.get(key);
    if (found) return found;
    const t = this.world.total(this.allParts(), range.from, range.to);
    let byTasks = 0n;
    for (const task of this.world.tasks()) byTasks += this.world.taskEnergy(task, range.from, range.to).uj ?? 0n;
    found = { ...t, unattributed: (t.uj ?? 0n) - byTasks };
    this.world.memo.set(key, found);
    return found;
  }

  powerNow(nodes = this.world.nodes.slice(0, 60)) {
    let sum = null;
    let known = 0;
    let total = 0;
    for (const node of nodes) {
      for (const { part } of this.world.partsOf(node)) {
        total += 1;
        const w = this.world.watts(node, part, this.world.now - 8000);
        if (w !== null) {
          known += 1;
          sum = (sum ?? 0) + w;
        }
      }
    }
    return { power_watts: sum, devices_known: known, devices_total: total, at: sum === null ? null : iso(this.world.now - 8000), boundary: "components" };
  }

  dashboard(query) {
    const { world } = this;
    const range = period(world, query);
    const whole = this.cluster(range);
    const share = (uj) => (uj === null || !whole.uj ? null : Number((uj * 1_000_000n) / whole.uj) / 1e6);
    const row = (id, t, extra) => ({ id, cluster: "default", energy_kwh: kwh(t.uj), energy_uj: str(t.uj), ...this.carbon(t.uj), coverage: t.coverage, share: share(t.uj), ...extra });
    const order = (rows) => rows.sort((a, b) => (b.energy_kwh ?? -1) - (a.energy_kwh ?? -1)).slice(0, 10);
    const tasks = this.tasksSeen().map((task) => row(task.id, world.taskEnergy(task, range.from, range.to), { team: task.team, attribution: task.share === null ? "exclusive" : "shared_estimated" }));
    const nodes = this.nodesSeen().slice(0, 60).map((n) => row(n.id, this.nodeTotal(n, range), {}));
    const teams = new Map();
    for (const task of this.tasksSeen()) {
      const t = world.taskEnergy(task, range.from, range.to);
      const sum = teams.get(task.team) ?? { uj: null, covered: 0, gap: 0 };
      if (t.uj !== null) sum.uj = (sum.uj ?? 0n) + t.uj;
      sum.covered += t.covered;
      sum.gap += t.gap;
      teams.set(task.team, sum);
    }
    const hourly = [];
    for (let h = Math.floor(range.from / kHour) * kHour; h < range.to; h += kHour) {
      const t = this.tenant ? this.ofTasks(this.tasksSeen(), { from: h, to: h + kHour }) : world.total(this.allParts(), h, h + kHour);
      hourly.push({ hour: iso(h), energy_kwh: kwh(t.uj), energy_uj: str(t.uj), covered_seconds: Math.round(t.covered ?? 0), coverage: t.uj === null ? null : t.coverage, gap_seconds: Math.round(t.gap ?? 0), partial_seconds: 0, ...this.carbon(t.uj) });
    }
    const silent = world.nodes.filter((n) => n.silentFor);
    const alerts = silent.map((n) => ({ kind: "agent_silent", subject: n.id, since: iso(world.now - n.silentFor * 1000), text: `${n.id} has not reported for 12 min` }));
    if (world.nodes.length > 0) {
      alerts.push({ kind: "coverage_low", subject: "amd-c03", since: iso(world.now - 9 * kHour), text: "coverage of the last 24 h is 83.3%" });
      alerts.push({ kind: "clock_offset", subject: "gpu-b03", since: iso(world.now - 2 * kHour), text: "its clock is 6.2 s ahead of the server" });
    }
    return {
      from: iso(range.from), to: iso(range.to), range: query.get("range") ?? "24h", as_of: iso(world.now),
      ...(whole.rows === 0 ? {} : { energy_summary: this.tenant ? this.energy("team", this.session.team, whole, range) : this.energy("cluster", "default", whole, range, { unattributed: whole.unattributed }) }),
      power_now: this.tenant ? { ...this.powerNow(), power_watts: null } : this.powerNow(), hourly: world.nodes.length === 0 ? [] : hourly,
      top: { tasks: order(tasks), nodes: order(nodes), teams: order([...teams].map(([id, t]) => row(id, { ...t, coverage: t.covered + t.gap > 0 ? t.covered / (t.covered + t.gap) : null }, {}))) },
      ...(this.tenant ? {} : { unattributed: world.nodes.length === 0 ? { energy_kwh: null, energy_uj: null } : { energy_kwh: kwh(whole.unattributed), energy_uj: str(whole.unattributed) } }),
      nodes: { total: world.nodes.length, live: world.nodes.length - silent.length, silent: silent.length }, alerts: alerts.slice(0, 50), alerts_total: alerts.length,
    };
  }

  nodeTotal(node, range) {
    return this.tenant ? this.ofTasks(this.tasksSeen().filter((t) => t.node === node), range) : this.world.total(this.world.partsOf(node), range.from, range.to);
  }

  nodeRow(node, range) {
    const { world } = this;
    const t = this.nodeTotal(node, range);
    const p = this.powerNow([node]);
    const trend = [];
    for (let i = 23; i >= 0 && !this.tenant; i -= 1) {
      const h = Math.floor(world.now / kHour) * kHour - i * kHour;
      const c = world.total(world.partsOf(node), h, h + kHour);
      trend.push({ at: iso(h), power_watts: c.uj === null ? null : (Number(c.uj) / 1e6) / (c.covered / Math.max(1, world.parts(node).length)) });
    }
    return {
      node_id: node.id, cluster: "default", zone: node.zone, region: node.region, state: node.silentFor ? "silent" : "live",
      last_seen_at: iso(world.now - (node.silentFor ?? 8) * 1000), last_sample_at: p.at, silent_seconds: node.silentFor ?? 8,
      power_watts: this.tenant ? null : p.power_watts, power_boundary: "components", platform_power_watts: node.platform && !this.tenant && p.power_watts !== null ? p.power_watts * 1.18 + 310 : null,
      devices_known: p.devices_known, devices_total: p.devices_total, sources: world.scenario === "replay" && node.id === "gpu-a01" ? ["replay"] : node.platform ? [node.source, "ipmi-dcmi"] : [node.source],
      energy_kwh: kwh(t.uj), energy_uj: str(t.uj), coverage: t.coverage, gap_seconds: Math.round(t.gap), simulated: world.simulated(node), replay: world.scenario === "replay" && node.id === "gpu-a01",
      clock_offset_seconds: node.id === "gpu-b03" ? 6.2 : node.neverKnown ? null : 0.02, agent_version: "0.1.0", trend, ...(this.tenant ? { partial_view: true } : {}),
    };
  }

  nodesSeen() {
    if (this.session.role !== "tenant") return this.world.nodes;
    const ids = new Set(this.tasksSeen().map((t) => t.node.id));
    return this.world.nodes.filter((n) => ids.has(n.id));
  }

  nodes(query) {
    const range = period(this.world, query);
    const q = (query.get("q") ?? "").toLowerCase();
    const state = query.get("state");
    let seen = this.nodesSeen().filter((n) => n.id.toLowerCase().includes(q) && (!state || (n.silentFor ? "silent" : "live") === state));
    const limit = Math.min(200, Number(query.get("limit") ?? 200));
    const start = Number(query.get("cursor") ?? 0);
    const sort = query.get("sort") ?? "node_id";
    const total = seen.length;
    let rows;
    if (total <= 200) {
      rows = seen.map((n) => this.nodeRow(n, range));
      const key = sort.replace("-", "");
      const down = sort.startsWith("-");
      rows.sort((a, b) => {
        if (a[key] === null || b[key] === null) return (a[key] === null) - (b[key] === null);
        const c = a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0;
        return down ? -c : c;
      });
      rows = rows.slice(start, start + limit);
    } else {
      rows = seen.slice(start, start + limit).map((n) => this.nodeRow(n, range));
    }
    return { nodes: rows, total, power_known_watts: this.tenant ? null : total > 200 ? 6_100_000 : this.powerNow(seen).power_watts, next_cursor: start + limit < total ? String(start + limit) : null, from: iso(range.from), to: iso(range.to) };
  }

  find(id) {
    const node = this.nodesSeen().find((n) => n.id === id);
    if (!node) throw new Problem(404, "unknown_node", `node "${id}" has never reported to cluster "default"; check the spelling with GET /nodes`);
    return node;
  }

  findTask(id) {
    const task = this.tasksSeen().find((t) => t.id === id);
    if (!task) throw new Problem(404, "unknown_task", `task "${id}" is not known, or belongs to another team`);
    return task;
  }

  node(id, query) {
    const { world } = this;
    const node = this.find(id);
    const range = period(world, query);
    const devices = this.tenant ? [] : world.partsOf(node).map(({ part }) => {
      const t = world.total([{ node, part }], range.from, range.to);
      const w = world.watts(node, part, world.now - 8000);
      const gpu = part.domain === "gpu";
      return {
        index: part.index, domain: part.domain, uuid: gpu ? `GPU-${node.id.replace("-", "")}-${part.index}f3c` : null, vendor: node.vendor || null, model: gpu ? node.model : null,
        source: node.source, quality: "measured", power_watts: w, reason: w === null ? (node.neverKnown ? "no verified sample of this output form" : "no reading") : undefined,
        power_limit_watts: gpu ? node.limit : null, util: w === null || !gpu ? null : Math.min(1, w / (node.limit ?? 300)), memory_used_bytes: w === null || !gpu ? null : 61 * 2 ** 30 + part.index * 1e9,
        temperature_c: w === null || !gpu ? null : 40 + Math.round(w / 20), energy_kwh: kwh(t.uj), energy_uj: str(t.uj), coverage: t.coverage, method: t.uj === null ? null : gpu ? "counter" : "mixed",
        holders: world.tasks().filter((task) => gpu && task.node === node && task.devices.includes(part.index)).map((task, k, all) => ({ task_id: task.id, state: "running", compute_share: all.length === 1 ? null : k === 0 ? all[0].share / 100 : 1 - all[0].share / 100, memory_share: null })),
      };
    });
    return { ...this.nodeRow(node, range), labels: { "k8s.node": node.id }, boot_id: "6a1c0f2e-7f51-4f0f-9d1c-1be1b5c1a001", cpu: { model: node.unknownCpu ? null : "EPYC 9654", cores: 192, util: 0.31 }, devices, source_states: this.tenant ? [] : sourceStates(node) };
  }

  nodeEnergy(id, query) {
    const { world } = this;
    const node = this.find(id);
    const range = period(world, query);
    const t = this.nodeTotal(node, range);
    if (this.tenant) return this.energy("node", id, t, range);
    const domains = [];
    for (const domain of ["gpu", "cpu_package"]) {
      const list = world.partsOf(node).filter((p) => p.part.domain === domain);
      if (list.length === 0) continue;
      const d = world.total(list, range.from, range.to);
      domains.push({ domain, energy_kwh: kwh(d.uj), energy_uj: str(d.uj), coverage: d.coverage, gap_seconds: Math.round(d.gap), partial_seconds: 0, in_total: true });
    }
    const notes = [];
    if (node.platform) {
      domains.push({ domain: "platform", energy_kwh: kwh(t.uj) * 1.24, energy_uj: str((t.uj * 124n) / 100n), coverage: 0.997, gap_seconds: 260, partial_seconds: 0, in_total: false });
      notes.push({ code: "platform_not_added", text: "the platform meter contains the devices and is not added", params: {} });
    }
    notes.push({ code: "cpu_estimate", text: "CPU power is estimated and in no total", params: {} });
    let byTasks = 0n;
    for (const task of world.tasks().filter((x) => x.node === node)) byTasks += world.taskEnergy(task, range.from, range.to).uj ?? 0n;
    return this.energy("node", id, t, range, { domains, notes, unattributed: (t.uj ?? 0n) - byTasks });
  }

  /** Curves of (node, part) pairs, bucketed; unknown points are absent. */
  curves(list, query, owner) {
    const { world } = this;
    const { from, to } = exactPeriod(world, query);
    const points = Math.max(10, Math.min(2000, Number(query.get("points") ?? 2000)));
    const raw = 20;
    const bucket = Math.max(raw, Math.ceil((to - from) / 1000 / points / raw) * raw);
    const step = bucket * 1000;
    const series = list.map(({ node, part }) => ({ key: `${node.id}/${part.domain}/${part.index}`, node_id: node.id, index: part.index, domain: part.domain, unit: "watts", quality: world.simulated(node) ? "simulated" : "measured", power_limit_watts: part.domain === "gpu" ? node.limit : null, points: [] }));
    const sum = [];
    for (let t = Math.ceil(from / step) * step; t < to; t += step) {
      let mean = 0;
      let lo = 0;
      let hi = 0;
      let known = 0;
      list.forEach(({ node, part }, k) => {
        const w = world.watts(node, part, t);
        if (w === null) return;
        const spread = bucket > raw ? 0.12 * w : 0;
        const limit = part.domain === "gpu" ? (node.limit ?? 1e9) : 1e9;
        const point = [t, w, Math.max(0, w - spread), Math.min(limit, w + spread * 1.4)];
        series[k].points.push(point);
        mean += point[1];
        lo += point[2];
        hi += point[3];
        known += 1;
      });
      if (known > 0) sum.push([t, mean, lo, hi, known, list.length]);
    }
    if (list.length > 1 && sum.length > 0) series.push({ key: `${owner}/sum`, node_id: owner, index: -1, domain: list[0].part.domain, label: "sum", unit: "watts", quality: "measured", points: sum });
    const gaps = [...new Set(list.map((p) => p.node))].flatMap((node) => gapsOf(node, world.now).filter((g) => g.to > from && g.from < to).map((g) => ({ from: iso(g.from), to: iso(g.to), seconds: Math.round(((g.to - g.from) / 1000) * (g.cause === "unknown" ? 0.6 : 1)), cause: g.cause, node_id: node.id })));
    return { from: iso(from), to: iso(to), bucket_seconds: bucket, downsampled: bucket > raw, retention_seconds: 604_800, series, gaps };
  }

  nodePower(id, query) {
    const { world } = this;
    const node = this.find(id);
    const held = new Set(this.tasksSeen().filter((x) => x.node === node).flatMap((x) => x.devices));
    const list = world.partsOf(node).filter((p) => !this.tenant || (p.part.domain === "gpu" && held.has(p.part.index)));
    const body = this.curves(list, query, id);
    let estimate = null;
    let reason = null;
    if (node.source !== "rapl" && !this.tenant) {
      if (node.unknownCpu) reason = "unknown_cpu_model";
      else if (node.neverKnown) reason = "no_utilisation";
      else {
        const points = [];
        const step = Math.max(60, body.bucket_seconds) * 1000;
        for (let t = Date.parse(body.from); t < Date.parse(body.to); t += step) {
          if (gapsOf(node, world.now).some((g) => g.cause === "no_data" && t >= g.from && t < g.to)) continue;
          const w = 210 + 90 * Math.sin(t / kHour) + 20 * Math.sin(t / 400_000);
          points.push([t, w, w, w]);
        }
        estimate = { quality: "estimated", points, idle_watts: 96, max_watts: 720 };
      }
    }
    if (node.platform && !this.tenant) {
      const sum = body.series.find((s) => s.index === -1 && s.domain === "gpu");
      body.series.push({ key: `${id}/platform/0`, node_id: id, index: 0, domain: "platform", label: "ipmi-dcmi", unit: "watts", quality: "measured", power_limit_watts: null, points: (sum?.points ?? []).map(([t, m]) => [t, m * 1.18 + 310, m * 1.18 + 305, m * 1.18 + 318]) });
    }
    return { node_id: id, ...body, cpu_estimate: estimate, cpu_estimate_reason: reason, notes: [] };
  }

  taskRow(task, range) {
    const t = this.world.taskEnergy(task, range.from, range.to);
    return {
      task_id: task.id, cluster: "default", team: task.team, group_id: task.kind === "inference" ? "llm-prod" : null, kind: task.kind,
      state: t.uj === null ? "unknown" : task.id.startsWith("fold") ? "finished" : "running", energy_kwh: kwh(t.uj), energy_uj: str(t.uj), coverage: t.coverage, gap_seconds: Math.round(t.gap),
      attribution: t.uj === null ? "unknown" : task.share === null ? "exclusive" : "shared_estimated", shared_seconds: task.share === null ? 0 : Math.round(t.covered), ...this.carbon(t.uj),
      first_sample_at: t.uj === null ? null : iso(range.from), last_sample_at: t.uj === null ? null : iso(this.world.now - 8000), nodes: [task.node.id], devices: task.devices.length,
      simulated: this.world.simulated(task.node), tokens_per_joule: task.id === "llm-serve-2" ? 0.412 : null,
      ...(task.kind === "inference" && task.id !== "llm-serve-2" ? { tokens_reason: "no_usage_reported" } : {}),
    };
  }

  tasks(query) {
    const range = period(this.world, query);
    const q = (query.get("q") ?? "").toLowerCase();
    const team = query.get("team");
    const rows = this.tasksSeen().filter((t) => t.id.toLowerCase().includes(q) && (!team || t.team === team)).map((t) => this.taskRow(t, range));
    rows.sort((a, b) => (b.energy_kwh ?? -1) - (a.energy_kwh ?? -1));
    const whole = this.cluster(range);
    const listed = rows.reduce((s, r) => s + BigInt(r.energy_uj ?? "0"), 0n);
    const known = this.world.nodes.length > 0;
    const rest = known && !this.tenant ? whole.unattributed : null;
    const sum = known ? listed : null;
    return { tasks: rows, total: rows.length, ...(this.tenant ? {} : { unattributed: { energy_kwh: kwh(rest), energy_uj: str(rest) } }), sum: { energy_kwh: kwh(sum), energy_uj: str(sum) }, next_cursor: null, from: iso(range.from), to: iso(range.to),
      ...(this.visible ? { emission_factor: this.factor } : { carbon_hidden_reason: "no_factor_configured" }) };
  }

  taskEnergy(id, query) {
    const task = this.findTask(id);
    const range = period(this.world, query);
    const t = this.world.taskEnergy(task, range.from, range.to);
    const shared = task.share === null ? 0n : (t.uj ?? 0n);
    const notes = task.share === null ? [] : [{ code: "shared_card", text: "shared by 2 tasks; the share is an estimate", params: { tasks: 2, share_percent: task.share, dimension: "compute" } }];
    return {
      ...this.energy("task", id, t, range, { attribution: t.uj === null ? "unknown" : task.share === null ? "exclusive" : "shared_estimated", shared, shared_seconds: task.share === null ? 0 : Math.round(t.covered), notes }),
      allocations: t.allocations,
      ...(task.kind === "inference" ? { token_efficiency: { tokens_per_joule: id === "llm-serve-2" ? 0.412 : null, reason: id === "llm-serve-2" ? null : "no_usage_reported", scope: "task_group" } } : {}),
    };
  }

  /** A served model with two endpoints and time without a request; others send no spans. */
  taskEndpoints(id, query) {
    const task = this.findTask(id);
    const range = period(this.world, query);
    const { uj } = this.world.taskEnergy(task, range.from, range.to);
    const known = task.kind === "inference" && uj !== null;
    const part = (n) => (known ? (uj * BigInt(n)) / 100n : null);
    const row = (route, requests, n) => ({ service: id, route, requests, failed: requests % 7, energy_kwh: kwh(part(n)), energy_uj: str(part(n)), energy_per_request_uj: str(part(n) === null ? null : part(n) / BigInt(requests)), coverage: 1, mean_seconds: 0.8 });
    const endpoints = known ? [row("POST /v1/chat/completions", 5120, 61), row("POST /v1/embeddings", 990, 9)] : [];
    const spans = known ? part(61) + part(9) : null;
    return { task_id: id, cluster: "default", from: iso(range.from), to: iso(range.to), attribution: "estimated", spans_since: known ? iso(range.from) : null, energy_kwh: kwh(uj), energy_uj: str(uj), spans_energy_uj: str(spans), no_span_energy_uj: str(part(20)), not_observed_energy_uj: str(known ? uj - spans - part(20) : uj), open_energy_uj: known ? "0" : null, reason: known ? null : "no_spans", endpoints, notes: [] };
  }

  /** A training job in its 23rd of 40 epochs, one that is done, and tasks that say nothing. */
  task(id, query) {
    const task = this.findTask(id);
    const { token_efficiency: tokens, from, to } = this.taskEnergy(id, query);
    const training = task.kind === "training";
    const done = training && task.id.startsWith("fold");
    const epoch = done ? 40 : 23;
    const each = 5.4e6;
    return {
      task_id: id, cluster: "default", team: task.team, group_id: "", kind: task.kind, state: done ? "finished" : "running", started_at: null, finished_at: null,
      progress: training ? { epoch, epochs_total: 40, reported_at: to, energy_joules_total: each * epoch, step_latency_seconds: 0.42, epochs: [] } : null,
      prediction: training && !done ? { epochs: 17, energy_joules: each * 17, interval_90_joules: [each * 16.7, each * 17.4], energy_kwh: (each * 17) / 3.6e6, seconds: 17 * 1260, finish_at: new Date(Date.parse(to) + 17 * 1_260_000).toISOString(), ...this.carbon(BigInt(each * 17) * 1_000_000n), model: { epochs_used: 22, warm_up_epochs: 1, changed_at_epoch: null, evaluation_every: null, steady_epoch_joules: each }, quality: "estimated" } : null,
      prediction_reason: training ? (done ? "all_epochs_done" : null) : "no_progress_reported",
      first_prediction: training ? { trained_epochs: 5, epochs: epoch - 5, predicted_joules: each * (epoch - 5) * 1.004, interval_90_joules: [0, 1], actual_joules: each * (epoch - 5), error_percent: 0.4, in_interval: true } : null,
      token_efficiency: { tokens_per_joule: null, reason: "task_has_no_group", joules_per_output_token: null, tokens: null, from, to, scope: "task_group", ...tokens, ...(tokens?.tokens_per_joule ? { joules_per_output_token: 9.2, tokens: { prompt: 1_204_511, completion: 330_208 } } : {}) },
    };
  }

  taskPower(id, query) {
    const task = this.findTask(id);
    return { ...this.curves(task.devices.map((index) => ({ node: task.node, part: { domain: "gpu", index } })), query, task.node.id), cpu_estimate: null, cpu_estimate_reason: null, whole_card: true, notes: [] };
  }

  carbonRate(id) {
    const node = this.find(id);
    const w = this.tenant ? null : this.powerNow([node]).power_watts;
    if (!this.visible) return { power_watts: w, carbon_hidden_reason: "no_factor_configured" };
    return { power_watts: w, grams_per_hour: w === null ? null : w * this.factor.value, intensity_g_per_kwh: this.factor.value * 1000, kind: "annual_factor", quality: "static", zone: node.zone, at: iso(this.world.now - 8000), hourly_signal: signalNow(node.zone, w) };
  }

  sources() {
    if (this.tenant) throw new Problem(403, "forbidden", "role tenant may not GET /api/v1/settings/sources");
    return {
      nodes: this.nodesSeen().slice(0, 60).map((n) => ({
        node_id: n.id,
        sources: [
          n.neverKnown
            ? { source: n.source, devices: n.count, state: "unknown", gives: null, last_read_at: null, why_not: "no verified sample of this output form" }
            : { source: n.source, devices: Math.max(1, n.count), state: "booked", simulated: this.world.simulated(n), gives: n.source === "nvml" ? "power+counter" : n.source === "rapl" ? "counter" : "power", last_read_at: iso(this.world.now - 8000) },
          ...(n.silentFor ? [{ source: "rapl", devices: 2, state: "silent", simulated: this.world.simulated(n), gives: "counter", last_read_at: iso(this.world.now - n.silentFor * 1000), why_not: "nothing came since its last sample: look at the agent there" }] : []),
          ...(n.platform ? [{ source: "ipmi-dcmi", devices: 1, state: "booked", gives: "power", last_read_at: iso(this.world.now - 12_000) }] : []),
          ...(n.count > 0 ? [{ source: "cpu-model", devices: 1, state: n.unknownCpu ? "unknown" : "estimated", gives: n.unknownCpu ? null : "power", last_read_at: n.unknownCpu ? null : iso(this.world.now - 8000), why_not: n.unknownCpu ? "unknown CPU model" : undefined }] : []),
        ],
      })),
    };
  }

  tick() {
    const p = this.powerNow();
    return { ...p, ...(this.tenant ? { power_watts: null } : {}), nodes: this.nodesSeen().slice(0, 60).map((n) => { const x = this.powerNow([n]); return { cluster: "default", node_id: n.id, power_watts: this.tenant ? null : x.power_watts, last_sample_at: x.at }; }), beats_total: Math.floor(this.world.now / 20_000) };
  }
}
