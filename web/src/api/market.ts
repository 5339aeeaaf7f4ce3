/** Teams' carbon budgets and their trades. */
import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { get } from "./client";
import type { Maybe } from "./types";

export interface Quota {
  team: string;
  month: string;
  budget_kg: number;
  used_kg: Maybe<number>;
  reserved_kg: Maybe<number>;
  offered_kg: number;
  remaining_kg: Maybe<number>;
  overdraft_kg: Maybe<number>;
  expired_kg: number;
  utilization: Maybe<number>;
  projected_kg: Maybe<number>;
  made_of: { allotted_kg: number; adjusted_kg: number; transferred_kg: number; carried_kg: number; bought_kg: number; sold_kg: number };
  money: { cash: number; locked: number };
}
export interface QuotaList { month: string; from: string; to: string; carbon_known: boolean; currency: string; quotas: Quota[] }
export interface Order { id: number; side: string; team: Maybe<string>; mine: boolean; month: string; amount_kg: number; left_kg: number; price_per_kg: number; posted_at: string }
export interface OrderList { month: string; matching: string; currency: string; total: number; offers?: Order[]; bids?: Order[] }
export interface Trade { record: number; at: string; month: string; amount_kg: number; price_per_kg: number; cost: number; seller: Maybe<string>; buyer: Maybe<string> }
export interface TradeList { currency: string; trades: Trade[] }

export const useQuotas = (month: string, team: string, every: number | false): UseQueryResult<QuotaList, Error> =>
  useQuery({ queryKey: ["quotas", month, team], queryFn: ({ signal }) => get<QuotaList>("/quotas", { month, team }, signal), refetchInterval: every });

export const useOrders = (side: "offers" | "bids", month: string, every: number | false): UseQueryResult<OrderList, Error> =>
  useQuery({ queryKey: ["orders", side, month], queryFn: ({ signal }) => get<OrderList>(`/market/${side}`, { month }, signal), refetchInterval: every });

export const useTrades = (month: string, every: number | false): UseQueryResult<TradeList, Error> =>
  useQuery({ queryKey: ["trades", month], queryFn: ({ signal }) => get<TradeList>("/market/trades", { month }, signal), refetchInterval: every });
