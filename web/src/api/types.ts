/** Shapes of the HTTP API (/api/v1). null is unknown; an optional key is left out when it does not apply. */

export type Maybe<T> = T | null;

/** How people sign in beside tokens: where single sign-on begins, or null. */
export interface SignInWays { sso_path: string | null }

export interface Session {
  role: "ops" | "tenant" | "viewer" | "agent";
  team: string;
  name: string;
  expires_at: Maybe<string>;
  version: string;
  simulated: boolean;
  factor_configured: boolean;
  curve_retention_seconds: number;
  max_gap_seconds: number;
  /** Some node plays a recorded log. */
  replay?: boolean;
}

export interface Factor {
  value: Maybe<number>;
  unit: string;
  gas: string;
  source: string;
  configured: boolean;
  year: Maybe<number>;
}

export interface Note {
  code: string;
  text: string;
  params?: Record<string, unknown>;
}

export interface Carbon {
  carbon_kgco2e?: Maybe<number>;
  emission_factor?: Factor;
  carbon_hidden_reason?: string;
}

export type Attribution = "exclusive" | "shared_estimated" | "unknown";

export interface DomainEnergy {
  domain: string;
  energy_kwh: Maybe<number>;
  energy_uj: Maybe<string>;
  coverage: Maybe<number>;
  gap_seconds: number;
  partial_seconds: number;
  in_total: boolean;
}

export interface Energy extends Carbon {
  scope: string;
  id: string;
  cluster: string;
  from: string;
  to: string;
  energy_kwh: Maybe<number>;
  energy_uj: Maybe<string>;
  coverage: Maybe<number>;
  covered_seconds: Maybe<number>;
  gap_seconds: Maybe<number>;
  /** Of gap_seconds: what no sample ended yet. */
  open_gap_seconds?: Maybe<number>;
  partial_seconds: Maybe<number>;
  shared_seconds: Maybe<number>;
  attribution: Maybe<Attribution>;
  method: Maybe<{ counter_kwh: number; counter_uj: string; integrated_kwh: number; integrated_uj: string }>;
  quality: Maybe<"measured" | "simulated" | "mixed">;
  simulated_uj: Maybe<string>;
  spread_uj: Maybe<string>;
  shared_energy_kwh: Maybe<number>;
  shared_energy_uj: Maybe<string>;
  unattributed_kwh?: Maybe<number>;
  unattributed_uj?: Maybe<string>;
  adjustments_kwh?: number;
  adjustments_uj?: string;
  rows: number;
  first_sample_at: Maybe<string>;
  last_sample_at: Maybe<string>;
  domains: DomainEnergy[];
  notes: Note[];
}

export interface Allocation {
  node_id: string;
  device_index: number;
  domain: string;
  energy_kwh: Maybe<number>;
  energy_uj: Maybe<string>;
  coverage: Maybe<number>;
  partial_seconds: number;
  attribution: Attribution;
  first_sample_at: Maybe<string>;
  last_sample_at: Maybe<string>;
}

export interface TokenEfficiency {
  tokens_per_joule: Maybe<number>;
  reason?: Maybe<string>;
  joules_per_output_token?: Maybe<number>;
  tokens?: Maybe<{ prompt: number; completion: number }>;
  from?: string;
  to?: string;
  scope?: string;
}

export interface TaskProgress {
  epoch: number;
  epochs_total: Maybe<number>;
  reported_at: string;
  energy_joules_total: Maybe<number>;
  step_latency_seconds: Maybe<number>;
}

/** Of the epochs that remain. */
export interface TaskPrediction {
  epochs: number;
  energy_joules: number;
  interval_90_joules: [number, number];
  seconds: Maybe<number>;
  finish_at: Maybe<string>;
  carbon_kgco2e?: Maybe<number>;
}

/** What was predicted from the first epochs, beside what came of it. */
export interface FirstPrediction {
  trained_epochs: number;
  epochs: number;
  predicted_joules: number;
  actual_joules: number;
  error_percent: number;
  in_interval: boolean;
}

export interface TaskDetail extends Carbon {
  task_id: string;
  progress: Maybe<TaskProgress>;
  prediction: Maybe<TaskPrediction>;
  prediction_reason: Maybe<string>;
  first_prediction: Maybe<FirstPrediction>;
  token_efficiency: TokenEfficiency;
}

export interface EndpointRow {
  service: string;
  route: string;
  requests: number;
  failed: number;
  energy_kwh: Maybe<number>;
  energy_uj: Maybe<string>;
  energy_per_request_uj: Maybe<string>;
  coverage: Maybe<number>;
  mean_seconds: Maybe<number>;
}

/** A task's energy by what was asked of it; spans, no span and not observed add up to it. */
export interface TaskEndpoints {
  from: string;
  to: string;
  spans_since: Maybe<string>;
  energy_kwh: Maybe<number>;
  energy_uj: Maybe<string>;
  spans_energy_uj: Maybe<string>;
  no_span_energy_uj: Maybe<string>;
  not_observed_energy_uj: Maybe<string>;
  reason: Maybe<string>;
  endpoints: EndpointRow[];
  notes: Note[];
}

export interface TaskEnergy extends Energy {
  allocations: Allocation[];
  token_efficiency?: TokenEfficiency;
}

export interface TopRow {
  id: string;
  cluster: string;
  team?: string;
  energy_kwh: Maybe<number>;
  energy_uj: Maybe<string>;
  carbon_kgco2e?: Maybe<number>;
  coverage: Maybe<number>;
  gap_seconds?: Maybe<number>;
  partial_seconds?: Maybe<number>;
  attribution?: Maybe<Attribution>;
  share: Maybe<number>;
}

export interface HourRow {
  hour: string;
  energy_kwh: Maybe<number>;
  energy_uj?: Maybe<string>;
  coverage: Maybe<number>;
  covered_seconds?: Maybe<number>;
  gap_seconds?: Maybe<number>;
  partial_seconds?: Maybe<number>;
  carbon_kgco2e?: Maybe<number>;
}

export interface PowerNow {
  power_watts: Maybe<number>;
  devices_known: number;
  devices_total: number;
  at: Maybe<string>;
  boundary: string;
}

export interface Alert {
  kind: string;
  subject: string;
  /** Of a node. */
  cluster?: string;
  since: Maybe<string>;
  text: string;
}

export interface DashboardStats {
  from: string;
  to: string;
  range: string;
  /** When it was made: a dear answer is kept for some seconds. */
  as_of: string;
  energy_summary?: Energy;
  power_now: PowerNow;
  hourly: HourRow[];
  top: { tasks: TopRow[]; nodes: TopRow[]; teams: TopRow[] };
  /** Left out for a team: what other tasks used is not shown to it. */
  unattributed?: { energy_kwh: Maybe<number>; energy_uj: Maybe<string> };
  nodes: { total: number; live: number; silent: number };
  alerts: Alert[];
  /** How many there are; the list holds the first 50. */
  alerts_total?: number;
}

export interface TrendPoint {
  at: string;
  power_watts: Maybe<number>;
}

export interface NodeRow {
  node_id: string;
  cluster: string;
  zone: Maybe<string>;
  region: Maybe<string>;
  state: "live" | "silent";
  last_seen_at: Maybe<string>;
  last_sample_at: Maybe<string>;
  silent_seconds: Maybe<number>;
  power_watts: Maybe<number>;
  power_boundary: Maybe<string>;
  platform_power_watts: Maybe<number>;
  devices_known: number;
  devices_total: number;
  sources: string[];
  energy_kwh: Maybe<number>;
  energy_uj: Maybe<string>;
  coverage: Maybe<number>;
  gap_seconds: Maybe<number>;
  partial_seconds?: Maybe<number>;
  /** Only the part of the asking team is shown: no power, no devices. */
  partial_view?: boolean;
  simulated: boolean;
  /** Plays a recorded log. */
  replay?: boolean;
  clock_offset_seconds: Maybe<number>;
  agent_version: Maybe<string>;
  trend: TrendPoint[];
}

export interface NodeList {
  nodes: NodeRow[];
  total: number;
  power_known_watts: Maybe<number>;
  next_cursor: Maybe<string>;
  from: string;
  to: string;
}

export interface Holder {
  task_id: string;
  state: string;
  compute_share: Maybe<number>;
  memory_share: Maybe<number>;
}

export interface Device {
  index: number;
  domain: string;
  uuid: Maybe<string>;
  vendor: Maybe<string>;
  model: Maybe<string>;
  source: Maybe<string>;
  quality: Maybe<string>;
  power_watts: Maybe<number>;
  reason?: Maybe<string>;
  power_limit_watts: Maybe<number>;
  util: Maybe<number>;
  memory_used_bytes: Maybe<number>;
  temperature_c: Maybe<number>;
  energy_kwh: Maybe<number>;
  energy_uj: Maybe<string>;
  coverage: Maybe<number>;
  gap_seconds?: Maybe<number>;
  partial_seconds?: Maybe<number>;
  method: Maybe<string>;
  holders: Holder[];
}

export interface NodeDetail extends NodeRow {
  labels: Record<string, string>;
  boot_id: Maybe<string>;
  cpu: Maybe<{ model: Maybe<string>; cores: Maybe<number>; util: Maybe<number> }>;
  devices: Device[];
  /** How the agent's sources fare, also those that found no device; empty for an older agent. */
  source_states?: SourceState[];
}

export interface SourceState {
  source: string;
  state: "ok" | "failed" | "starting" | string;
  reason: Maybe<string>;
}

/** [time ms, mean, min, max] and, for the sum, how many devices were known of how many. */
export type PowerPoint = [t: number, mean: number, min: number, max: number, known?: number, total?: number];

export interface PowerSeries {
  key: string;
  node_id: string;
  index: number;
  domain: string;
  unit: string;
  quality: string;
  label?: string;
  power_limit_watts?: Maybe<number>;
  points: PowerPoint[];
}

export interface PowerGap {
  from: string;
  to: string;
  cause: string;
  node_id: string;
  /** The series it belongs to; without it, the whole node. */
  key?: string;
  /** Time of it without a value: known beats between joined holes are not counted. Older servers leave it out. */
  seconds?: number;
}

export interface PowerCurves {
  node_id?: string;
  from: string;
  to: string;
  bucket_seconds: number;
  downsampled: boolean;
  retention_seconds: number;
  series: PowerSeries[];
  gaps: PowerGap[];
  cpu_estimate?: Maybe<{ quality: string; points: PowerPoint[]; idle_watts: Maybe<number>; max_watts: Maybe<number> }>;
  cpu_estimate_reason?: Maybe<string>;
  whole_card?: boolean;
  notes?: Note[];
}

export interface CarbonRate {
  power_watts: Maybe<number>;
  grams_per_hour?: Maybe<number>;
  intensity_g_per_kwh?: Maybe<number>;
  kind?: string;
  quality?: string;
  zone?: Maybe<string>;
  at?: Maybe<string>;
  /** null: the zone has no chain; absent where carbon is hidden. */
  hourly_signal?: Maybe<RateSignal>;
  carbon_hidden_reason?: string;
}

export interface RateSignal {
  zone: string;
  kind: string;
  boundary: string;
  basis: string;
  state: string;
  degraded_reason: Maybe<string>;
  age_seconds: Maybe<number>;
  quality: Maybe<string>;
  provider: Maybe<string>;
  intensity_g_per_kwh: Maybe<number>;
  grams_per_hour: Maybe<number>;
  reason: Maybe<string>;
}

export interface TaskRow {
  task_id: string;
  cluster: string;
  team: Maybe<string>;
  group_id: Maybe<string>;
  kind: Maybe<string>;
  state: "running" | "finished" | "unknown";
  energy_kwh: Maybe<number>;
  energy_uj: Maybe<string>;
  coverage: Maybe<number>;
  gap_seconds: Maybe<number>;
  partial_seconds?: Maybe<number>;
  attribution: Maybe<Attribution>;
  shared_seconds: Maybe<number>;
  carbon_kgco2e?: Maybe<number>;
  first_sample_at: Maybe<string>;
  last_sample_at: Maybe<string>;
  nodes: string[];
  devices: number;
  simulated: boolean;
  tokens_per_joule: Maybe<number>;
  tokens_reason?: Maybe<string>;
}

export interface TaskList extends Carbon {
  tasks: TaskRow[];
  total: number;
  unattributed?: { energy_kwh: Maybe<number>; energy_uj: Maybe<string> };
  sum: { energy_kwh: Maybe<number>; energy_uj: Maybe<string> };
  next_cursor: Maybe<string>;
  from: string;
  to: string;
}

export interface SourceRow {
  source: string;
  devices: Maybe<number>;
  state: "booked" | "silent" | "unknown" | "estimated" | string;
  simulated?: boolean;
  gives: Maybe<string>;
  last_read_at: Maybe<string>;
  why_not?: Maybe<string>;
}

export interface SourceList {
  nodes: { node_id: string; cluster: string; sources: SourceRow[] }[];
}

export interface CoverageList {
  rows: { vendor: string; tool: string; form: string; state: "complete" | "adapted" | "no sample" | string; agent_sources: string; note: string }[];
}

export interface FactorList {
  in_force: Maybe<Factor>;
  catalogue: unknown[];
}

export interface Tick {
  at: string;
  power_watts: Maybe<number>;
  devices_known: number;
  devices_total: number;
  nodes: { cluster: string; node_id: string; power_watts: Maybe<number>; last_sample_at: Maybe<string> }[];
  beats_total: number;
}

export interface ProblemBody {
  type?: string;
  title?: string;
  status?: number;
  detail?: string;
  code?: string;
  request_id?: string;
}
