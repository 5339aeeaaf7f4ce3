/** One door to the API: same-origin cookie session, problems as values with their request id. */
import type { ProblemBody } from "./types";

export const kApi = "/api/v1";

/** A refused or failed request: what to tell the reader, and the id to tell the operator. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly detail: string,
    readonly code: string,
    readonly requestId: string,
  ) {
    super(detail);
    this.name = "ApiError";
  }
}

type Query = Record<string, string | number | null | undefined>;

export function apiPath(path: string, query: Query = {}): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(query)) {
    if (v !== null && v !== undefined && v !== "") q.set(k, String(v));
  }
  const text = q.toString();
  return `${kApi}${path}${text === "" ? "" : `?${text}`}`;
}

async function problem(response: Response): Promise<ApiError> {
  let body: ProblemBody = {};
  try {
    body = (await response.json()) as ProblemBody;
  } catch {
    // Not a problem document (a proxy's page, an empty body): the status says what is known.
  }
  const id = response.headers.get("X-Request-Id") ?? body.request_id ?? "";
  const detail = typeof body.detail === "string" && body.detail !== "" ? body.detail : (body.title ?? `HTTP ${response.status}`);
  return new ApiError(response.status, detail, body.code ?? "", id);
}

async function send(url: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: "same-origin", ...init });
  } catch (e) {
    if (init.signal?.aborted) throw e;
    throw new ApiError(0, "", "unreachable", "");
  }
  if (!response.ok) throw await problem(response);
  return response;
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const response = await send(apiPath(path, query), { headers: { Accept: "application/json" }, ...(signal ? { signal } : {}) });
  return (await response.json()) as T;
}

const kWrite = { "Content-Type": "application/json", "X-Tidewatt-CSRF": "1" };

export async function signIn(token: string): Promise<void> {
  await send(apiPath("/session"), { method: "POST", headers: kWrite, body: JSON.stringify({ token }) });
}

export async function signOut(): Promise<void> {
  await send(apiPath("/session"), { method: "DELETE", headers: kWrite });
}
