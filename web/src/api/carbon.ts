/** Zones, their chains and forecasts, and reports: answers and questions. */
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { apiPath, get } from "./client";
import type { Factor, Maybe } from "./types";

export interface SeriesHead { zone: string; kind: string; boundary: string; basis: string }
export interface ProviderState { provider: string; state: string; failure: Maybe<string>; last_success_at: Maybe<string>; next_try_at: Maybe<string>; successes: number; failures: Record<string, number> }
export interface ZoneState extends SeriesHead {
  state: string;
  since: Maybe<string>;
  quality: Maybe<string>;
  age_seconds: Maybe<number>;
  degraded_reason: Maybe<string>;
  gco2_per_kwh: Maybe<number>;
  providers: ProviderState[];
}
export interface CarbonPoint { start: string; end: string; gco2_per_kwh: number; cfe_share: Maybe<number>; quality: string; provider: string; fetched_at: string; revision: number }
export interface CarbonLatest extends SeriesHead { state: string; quality: Maybe<string>; age_seconds: Maybe<number>; degraded_reason: Maybe<string>; point: Maybe<CarbonPoint>; stale_point: Maybe<CarbonPoint> }
export interface CarbonHistory extends SeriesHead { history: CarbonPoint[] }
export interface ForecastPoint extends CarbonPoint { p10: Maybe<number>; p90: Maybe<number> }
export interface ForecastScore { forecaster: string; day: number; mape: number; slots: number }
export interface CarbonForecast extends SeriesHead { issued_at: Maybe<string>; forecast: ForecastPoint[]; scores: ForecastScore[] }

export interface Figure { value: Maybe<number>; reason: Maybe<string> }
export interface ReportCarbon {
  annual_factor: { kgco2e: Figure };
  hourly_signal: { kgco2e: Figure; carbon_coverage: Maybe<number>; covered_kwh: number; uncovered_kwh: number; uncovered_hours: number; ci_used_g_per_kwh: Maybe<number>; ci_time_mean_g_per_kwh: Maybe<number> };
  scope2: { location_based_annual_kgco2e: Figure; location_based_hourly_kgco2e: Figure; market_based_kgco2e: Figure; contracted_kwh: number; residual_kwh: number };
  scope3_3: { upstream_kgco2e: Figure; losses_kgco2e: Figure };
  overhead: { energy_kwh: Figure; kgco2e: Figure; base: string; domains: string[] };
  embodied: { kgco2e: Figure };
  savings: { baseline: string; attributional_kgco2e: Figure; consequential_kgco2e: Figure; moved_tasks: number; tasks_without_figure: number };
  sci: { g_per_device_hour: Figure; g_per_token: Figure; tokens: number | null; includes_overhead: boolean };
}
export interface ReportLine {
  id: string;
  cluster: Maybe<string>;
  energy_kwh: Maybe<number>;
  energy_uj: Maybe<string>;
  coverage: Maybe<number>;
  gap_seconds: number;
  shared_kwh: number;
  simulated_kwh: number;
  carbon?: ReportCarbon;
  cfe_share: Figure;
  money: { energy_cost: Figure; peak_kw: Maybe<number>; demand_cost: Figure; carbon_cost_eur?: Figure };
  adjustments: Maybe<{ energy_kwh: number; hours: number; annual_factor_kgco2e?: Figure; hourly_signal_kgco2e?: Figure }>;
}
export interface Report {
  period: Maybe<string>;
  from: string;
  to: string;
  scope: string;
  simulated: string;
  sealed: boolean;
  seals: { month: string; sealed_at: string; rows: number; hash: Maybe<string> }[];
  emission_factor?: Factor & { kind: string; boundary: string };
  /** Of zones and years that have their own. */
  zone_factors?: (Factor & { zone: string })[];
  carbon_hidden_reason?: string;
  series: (SeriesHead & { known_hours: number; window_hours: number; may_enter_scope2: boolean })[];
  pue: { value: Maybe<number>; reason: Maybe<string>; from: Maybe<string>; not_metered_reason: Maybe<string>; facility_kwh: Maybe<number>; machines_kwh: Maybe<number>; metered_hours: number };
  cue_kg_per_kwh: { annual_factor: Figure; hourly_signal: Figure };
  wue_l_per_kwh: Figure;
  stated: { pue: Maybe<{ value: number; source: Maybe<string> }>; currency: string; tariff: Maybe<string>; carbon_price_eur_per_tonne: number };
  lines: ReportLine[];
  total: ReportLine;
  unattributed_kwh: Maybe<number>;
  battery: Maybe<{ cfe_share_without: Maybe<number>; cfe_share_with: Maybe<number>; delivered_kwh: number; cost: number }>;
  days: { day: string; energy_kwh: Maybe<number>; g_per_kwh: Maybe<number>[]; cfe_share: Maybe<number>[] }[];
}

const zonePath = (zone: string, what: string): string => `/carbon/${encodeURIComponent(zone)}/${what}`;

export const useZones = (every: number | false): UseQueryResult<{ zones: ZoneState[] }, Error> =>
  useQuery({ queryKey: ["zones"], queryFn: ({ signal }) => get<{ zones: ZoneState[] }>("/carbon/zones", {}, signal), refetchInterval: every });

export const useZoneLatest = (zone: string, every: number | false): UseQueryResult<CarbonLatest, Error> =>
  useQuery({ queryKey: ["zone-latest", zone], queryFn: ({ signal }) => get<CarbonLatest>(zonePath(zone, "latest"), {}, signal), refetchInterval: every, enabled: zone !== "" });

export const useZoneHistory = (zone: string, range: string): UseQueryResult<CarbonHistory, Error> =>
  useQuery({ queryKey: ["zone-history", zone, range], queryFn: ({ signal }) => get<CarbonHistory>(zonePath(zone, "history"), { range }, signal), staleTime: 300_000, enabled: zone !== "" });

export const useZoneForecast = (zone: string, hours: number): UseQueryResult<CarbonForecast, Error> =>
  useQuery({ queryKey: ["zone-forecast", zone, hours], queryFn: ({ signal }) => get<CarbonForecast>(zonePath(zone, "forecast"), { hours: String(hours) }, signal), staleTime: 300_000, enabled: zone !== "" });

export interface ReportQuestion { period: string; scope: string; id: string; simulated: boolean }
const reportQuery = (q: ReportQuestion): Record<string, string> => ({ scope: q.scope, id: q.id, simulated: q.simulated ? "include" : "" });

export const useReport = (q: ReportQuestion): UseQueryResult<Report, Error> =>
  useQuery({ queryKey: ["report", q.period, q.scope, q.id, q.simulated], queryFn: ({ signal }) => get<Report>(`/reports/${encodeURIComponent(q.period)}`, reportQuery(q), signal), staleTime: 60_000, retry: false });

export interface AccountingQuestion { scope: string; id: string; cluster: string; range: string }

/** The same figures as a report's, of any window. */
export const useAccounting = (q: AccountingQuestion, every: number | false): UseQueryResult<Report, Error> =>
  useQuery({ queryKey: ["accounting", q.scope, q.id, q.cluster, q.range], queryFn: ({ signal }) => get<Report>("/carbon/accounting", { ...q }, signal), refetchInterval: every, retry: false });

export const reportHref = (q: ReportQuestion, format: string, lang: string): string => apiPath(`/reports/${encodeURIComponent(q.period)}`, { ...reportQuery(q), format, lang });
