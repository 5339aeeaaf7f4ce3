// Zones and reports of the mock server: every awkward case has one.
import { iso, kHour } from "./data.mjs";

const kZones = {
  DE: { kind: "average", boundary: "direct", basis: "consumption", state: "latest", quality: "measured", age: 240, value: 231, base: 260, swing: 110 },
  "CN-NM": { kind: "average", boundary: "life_cycle", basis: "consumption", state: "own_forecast", quality: "forecast", age: 7_900, value: 612, base: 620, swing: 60, reason: "electricitymaps: timed_out; no forecast of a provider covers now" },
  SE: { kind: "marginal", boundary: "co2_only", basis: "unknown", state: "off", quality: null, age: null, value: null, base: 30, swing: 10, reason: "no provider answers and there is less than a week of history" },
};

const wave = (z, ms) => Math.round((z.base - z.swing * Math.cos(((ms / kHour) % 24 - 1) / 24 * 2 * Math.PI)) * 10) / 10;
const head = (name, z) => ({ zone: name, kind: z.kind, boundary: z.boundary, basis: z.basis });
const point = (z, ms, quality, provider) => ({ start: iso(ms), end: iso(ms + kHour), gco2_per_kwh: wave(z, ms), cfe_share: null, kind: z.kind, quality, provider, fetched_at: iso(ms + kHour), issued_at: null, revision: 1 });
const state = (name, z) => ({ ...head(name, z), state: z.state, since: null, quality: z.quality, age_seconds: z.age, degraded_reason: z.reason ?? null });

export function zones() {
  const provider = (name, stateOf, failure) => ({ provider: name, state: stateOf, failure, last_success_at: null, next_try_at: null, successes: stateOf === "ok" ? 128 : 0, failures: {} });
  return { zones: Object.entries(kZones).map(([name, z]) => ({ ...state(name, z), gco2_per_kwh: z.value, providers: z.reason ? [provider("electricitymaps", "paused", "timed_out: no answer within 5 s"), provider("csv", "no_value", "no_value_now: none of its values holds now")] : [provider("electricitymaps", "ok", null), provider("csv", "untried", null)] })) };
}

export function zone(world, name, what, query) {
  const z = kZones[name];
  if (!z) return null;
  const hour = Math.floor(world.now / kHour) * kHour;
  if (what === "latest") return { ...state(name, z), at: iso(world.now), point: z.value === null ? null : point(z, hour, z.quality, "electricitymaps"), stale_point: z.reason ? point(z, hour - 2 * kHour, "measured", "electricitymaps") : null };
  if (what === "history") {
    const hours = { "3d": 72, "28d": 672 }[query.get("range")] ?? 24;
    const history = [];
    for (let ms = hour - hours * kHour; ms < hour + kHour; ms += kHour) if ((ms / kHour) % 97 > 5 && z.state !== "off") history.push(point(z, ms, (ms / kHour) % 31 < 4 ? "estimated" : "measured", "electricitymaps"));
    return { ...head(name, z), from: iso(hour - hours * kHour), to: iso(world.now), history };
  }
  if (what === "forecast") {
    const forecast = z.state === "off" ? [] : Array.from({ length: 72 }, (_, i) => ({ ...point(z, hour + i * kHour, "forecast", "tidewatt"), p10: wave(z, hour + i * kHour) - 15 - i / 3, p90: wave(z, hour + i * kHour) + 15 + i / 3 }));
    const scores = z.state === "off" ? [] : [1, 2, 3].flatMap((day) => [{ forecaster: "provider", day, mape: 4 + day, slots: 240 }, { forecaster: "tidewatt", day, mape: 3.4 + day, slots: 240 }]);
    return { ...head(name, z), issued_at: iso(hour), forecast, scores };
  }
  return null;
}

/** What a power emits now by its zone's signal; null where the zone has no chain. */
export function signalNow(name, watts) {
  const z = kZones[name];
  if (!z) return null;
  const average = z.kind === "average";
  const { since, ...now } = state(name, z);
  return { ...now, intensity_g_per_kwh: z.value, provider: z.value === null ? null : z.state === "own_forecast" ? "tidewatt" : "electricitymaps", grams_per_hour: z.value === null || !average || watts === null ? null : (watts * z.value) / 1000, reason: z.value === null ? "signal_off" : average ? null : "marginal_series" };
}

const known = (value) => ({ value, reason: null });
const unknown = (reason) => ({ value: null, reason });

function line(id, kwh, visible, scope) {
  const kg = kwh * 0.38;
  const row = {
    id, cluster: scope === "team" ? null : "default", energy_kwh: kwh, energy_uj: String(BigInt(Math.round(kwh * 1000)) * 3_600_000_000n), coverage: 0.982, gap_seconds: 46_000, shared_kwh: kwh / 20, simulated_kwh: 0, unattributed_kwh: 0,
    cfe_share: known(0.63), money: { energy_cost: known(kwh * 0.18), peak_kw: kwh / 400, demand_cost: scope === "cluster" ? known(kwh / 40) : unknown("demand_of_the_site_only"), ...(visible ? { carbon_cost_eur: known(kg * 0.08) } : {}) },
    adjustments: { energy_kwh: 2, hours: 1, ...(visible ? { annual_factor_kgco2e: known(0.76), hourly_signal_kgco2e: known(0.4) } : {}) },
  };
  if (visible) row.carbon = {
    annual_factor: { kgco2e: known(kg) },
    hourly_signal: { kgco2e: known(kwh * 0.29), carbon_coverage: 30 / 31, covered_kwh: (kwh * 30) / 31, uncovered_kwh: kwh / 31, uncovered_hours: 24, ci_used_g_per_kwh: 300, ci_time_mean_g_per_kwh: 350 },
    scope2: { location_based_annual_kgco2e: known(kg), location_based_hourly_kgco2e: unknown("boundary_not_direct"), market_based_kgco2e: unknown("no_residual_mix"), contracted_kwh: 0, residual_kwh: kwh },
    scope3_3: { upstream_kgco2e: known(kwh * 0.05), losses_kgco2e: unknown("no_grid_loss") },
    overhead: { energy_kwh: known(kwh * 0.25), kgco2e: known(kg * 0.25), base: "components", domains: ["cpu_package", "gpu"] },
    embodied: { kgco2e: unknown("no_embodied_factor") },
    savings: { baseline: "at_once", attributional_kgco2e: known(kwh * 0.03), consequential_kgco2e: unknown("no_marginal_series"), moved_tasks: 7, tasks_without_figure: 1 },
    sci: { g_per_device_hour: unknown("no_embodied_factor"), g_per_token: unknown("tokens_are_of_groups"), tokens: null, includes_overhead: false },
  };
  return row;
}

export function report(period, query, api) {
  const scope = query.get("scope") ?? "cluster";
  const visible = api.visible;
  const from = Date.parse(`${/^\d{4}-\d\d$/.test(period) ? period : "2026-11"}-01T00:00:00Z`);
  const ids = { cluster: ["default"], node: ["gpu-a01", "gpu-a07", "gpu-b02"], team: ["language", "unassigned", "vision"], task_group: ["llm", "vis"], task: ["train-7", "train-8"] }[scope] ?? [];
  const lines = ids.filter((id) => !query.get("id") || id === query.get("id")).map((id, i) => line(id, 1116 / (i + 1), visible, scope));
  return {
    schema: "tidewatt-report/1", period, from: iso(from), to: iso(from + 30 * 24 * kHour), scope, simulated: query.get("simulated") === "include" ? "included" : "left_out", sealed: true,
    seals: [{ month: period, sealed_at: iso(from + 38 * 24 * kHour), rows: 744, hash: "9f3c".repeat(16) }],
    ...(visible ? { emission_factor: { ...api.factor, kind: "average", boundary: "direct" } } : { carbon_hidden_reason: "no_factor_configured" }),
    series: [{ ...head("DE", kZones.DE), known_hours: 696, window_hours: 720, may_enter_scope2: true }],
    pue: { value: 1.25, reason: null, from: "metered", not_metered_reason: null, facility_kwh: 2790, machines_kwh: 2232, metered_hours: 701 },
    cue_kg_per_kwh: !visible
      ? { annual_factor: { value: null, reason: "no_factor_configured" }, hourly_signal: { value: null, reason: "no_factor_configured" } }
      : { annual_factor: { value: 0.475, reason: null }, hourly_signal: { value: 0.375, reason: null } },
    wue_l_per_kwh: { value: 1.8, reason: null },
    stated: { pue: null, currency: "EUR", tariff: "0.18", carbon_price_eur_per_tonne: 80 },
    lines, total: { ...line("total", lines.reduce((s, l) => s + l.energy_kwh, 0), visible, scope), cluster: null },
    unattributed_kwh: scope === "team" || scope === "task" ? 186 : null,
    battery: { cfe_share_without: 0.63, cfe_share_with: 0.71, added_share: 0.08, charged_kwh: 100, delivered_kwh: 90, cost: 4.5 },
    days: Array.from({ length: 30 }, (_, d) => ({ day: iso(from + d * 24 * kHour).slice(0, 10), energy_kwh: d === 12 ? null : 36, g_per_kwh: Array(24).fill(null), cfe_share: Array.from({ length: 24 }, (_h, h) => (d === 12 ? null : 0.5 - 0.45 * Math.cos((h / 24) * 2 * Math.PI))) })),
  };
}
