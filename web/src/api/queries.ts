/** The questions the pages ask. Keys name everything an answer depends on, so a changed key never shows old data. */
import { keepPreviousData, QueryClient, useInfiniteQuery, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { ApiError, get } from "./client";
import type * as A from "./types";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchOnWindowFocus: true,
      retry: (failures, error) => error instanceof ApiError && (error.status === 0 || error.status >= 502) && failures < 2,
    },
  },
});

export const useSession = (): UseQueryResult<A.Session, Error> =>
  useQuery({ queryKey: ["session"], queryFn: ({ signal }) => get<A.Session>("/session", {}, signal), staleTime: 60_000 });

/** Asked before anybody is signed in. */
export const useSignInWays = (): UseQueryResult<A.SignInWays, Error> =>
  useQuery({ queryKey: ["sign-in"], queryFn: ({ signal }) => get<A.SignInWays>("/sign-in", {}, signal), staleTime: 60_000 });

export const useDashboard = (range: string, every: number | false): UseQueryResult<A.DashboardStats, Error> =>
  useQuery({ queryKey: ["dashboard", range], queryFn: ({ signal }) => get<A.DashboardStats>("/dashboard/stats", { range }, signal), refetchInterval: every });

interface ListOptions { range: string; q: string; sort: string; every: number | false }
/** Sort keys the server knows; other columns are sorted among the loaded rows. */
const kNodeSorts = new Set(["node_id", "energy_kwh", "power_watts", "coverage"]);
const kTaskSorts = new Set(["task_id", "energy_kwh", "coverage"]);
const sortFor = (known: Set<string>, sort: string): string => (known.has(sort.replace(/^-/, "")) ? sort : "");

/** A further page is asked with the period of the first, so that all of them show the same hours. */
interface PageParam { cursor: string; from: string; to: string }
const kFirstPage: PageParam = { cursor: "", from: "", to: "" };
const period = (range: string, p: PageParam): Record<string, string> => (p.cursor === "" ? { range } : { from: p.from, to: p.to, cursor: p.cursor });
const nextPage = (last: A.NodeList | A.TaskList, pages: readonly (A.NodeList | A.TaskList)[]): PageParam | null =>
  last.next_cursor === null ? null : { cursor: last.next_cursor, from: pages[0]?.from ?? last.from, to: pages[0]?.to ?? last.to };

export const useNodes = (o: ListOptions & { state: string }) =>
  useInfiniteQuery({
    queryKey: ["nodes", o.range, o.q, o.state, sortFor(kNodeSorts, o.sort)],
    queryFn: ({ pageParam, signal }) => get<A.NodeList>("/nodes", { ...period(o.range, pageParam), q: o.q, state: o.state, sort: sortFor(kNodeSorts, o.sort), limit: 200 }, signal),
    initialPageParam: kFirstPage,
    getNextPageParam: nextPage,
    refetchInterval: o.every,
    placeholderData: (old, query) => (query && query.queryKey[1] === o.range && query.queryKey[2] === o.q && query.queryKey[3] === o.state ? old : undefined),
  });

export const useTasks = (o: ListOptions & { team: string }) =>
  useInfiniteQuery({
    queryKey: ["tasks", o.range, o.q, o.team, sortFor(kTaskSorts, o.sort)],
    queryFn: ({ pageParam, signal }) => get<A.TaskList>("/tasks", { ...period(o.range, pageParam), q: o.q, team: o.team, sort: sortFor(kTaskSorts, o.sort), limit: 200 }, signal),
    initialPageParam: kFirstPage,
    getNextPageParam: nextPage,
    refetchInterval: o.every,
    placeholderData: (old, query) => (query && query.queryKey[1] === o.range && query.queryKey[2] === o.q && query.queryKey[3] === o.team ? old : undefined),
  });

const one = (id: string): string => encodeURIComponent(id);

export const useNode = (id: string, cluster: string, range: string, every: number | false): UseQueryResult<A.NodeDetail, Error> =>
  useQuery({ queryKey: ["node", cluster, id, range], queryFn: ({ signal }) => get<A.NodeDetail>(`/nodes/${one(id)}`, { range, cluster }, signal), refetchInterval: every });

export const useEnergy = (scope: "node" | "task", id: string, cluster: string, range: string, every: number | false, enabled = true): UseQueryResult<A.Energy & Partial<A.TaskEnergy>, Error> =>
  useQuery({
    queryKey: ["energy", scope, cluster, id, range], enabled, refetchInterval: every,
    queryFn: ({ signal }) => get<A.Energy & Partial<A.TaskEnergy>>(`/${scope}s/${one(id)}/energy`, { range, cluster }, signal),
  });

export const useTask = (id: string, cluster: string, range: string, every: number | false): UseQueryResult<A.TaskDetail, Error> =>
  useQuery({ queryKey: ["task", cluster, id, range], queryFn: ({ signal }) => get<A.TaskDetail>(`/tasks/${one(id)}`, { range, cluster }, signal), refetchInterval: every });

export const useEndpoints = (id: string, cluster: string, range: string, every: number | false): UseQueryResult<A.TaskEndpoints, Error> =>
  useQuery({ queryKey: ["endpoints", cluster, id, range], queryFn: ({ signal }) => get<A.TaskEndpoints>(`/tasks/${one(id)}/endpoints`, { range, cluster }, signal), refetchInterval: every });

export interface Window { from: number; to: number }
export const usePower = (scope: "node" | "task", id: string, cluster: string, range: string, zoom: Window | null, every: number | false): UseQueryResult<A.PowerCurves, Error> =>
  useQuery({
    queryKey: ["power", scope, cluster, id, range, zoom?.from ?? 0, zoom?.to ?? 0], refetchInterval: every,
    // A zoom keeps the coarse curve on screen until the finer one is here; another node or range never does.
    placeholderData: (old, query) => (query && query.queryKey[3] === id && query.queryKey[4] === range && query.queryKey[2] === cluster ? keepPreviousData(old) : undefined),
    queryFn: ({ signal }) =>
      get<A.PowerCurves>(`/${scope}s/${one(id)}/power`, { cluster, points: 1000, ...(zoom ? { from: new Date(zoom.from).toISOString(), to: new Date(zoom.to).toISOString() } : { range }) }, signal),
  });

export const useCarbonRate = (id: string, cluster: string, every: number | false): UseQueryResult<A.CarbonRate, Error> =>
  useQuery({ queryKey: ["rate", cluster, id], queryFn: ({ signal }) => get<A.CarbonRate>(`/nodes/${one(id)}/carbon-rate`, { cluster }, signal), refetchInterval: every });

export const useSources = (enabled = true): UseQueryResult<A.SourceList, Error> =>
  useQuery({ queryKey: ["sources"], enabled, queryFn: ({ signal }) => get<A.SourceList>("/settings/sources", {}, signal), refetchInterval: 60_000 });

export const useCoverage = (enabled: boolean): UseQueryResult<A.CoverageList, Error> =>
  useQuery({ queryKey: ["coverage"], enabled, queryFn: ({ signal }) => get<A.CoverageList>("/settings/coverage", {}, signal), staleTime: Infinity });

export const useFactors = (): UseQueryResult<A.FactorList, Error> =>
  useQuery({ queryKey: ["factors"], queryFn: ({ signal }) => get<A.FactorList>("/factors", {}, signal) });
