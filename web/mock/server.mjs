// Development and test server: web/dist plus a deterministic API. Never part of the product.
//   node mock/server.mjs [--port 7399] [--now 2026-11-29T06:05:00Z]
// Sign in with the token of a scenario: ops, viewer, tenant, placeholder, hidden, sim, mixed, partial, empty, error, big, replay.
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { Api, Problem } from "./api.mjs";
import { report, zone, zones } from "./carbon.mjs";
import { market } from "./market.mjs";
import { World, iso } from "./data.mjs";

const option = (name, fallback) => {
  const i = process.argv.indexOf(`--${name}`);
  return i > 0 ? process.argv[i + 1] : fallback;
};
const port = Number(option("port", process.env.PORT ?? "7399"));
const fixedNow = option("now", process.env.MOCK_NOW ?? "");
const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const kTypes = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".json": "application/json" };
const kCsp = "default-src 'self'; style-src 'self'; script-src 'self'; frame-ancestors 'none'; base-uri 'self'; form-action 'self'";

const kSessions = {
  ops: { role: "ops", team: "", name: "ops" },
  viewer: { role: "viewer", team: "", name: "viewer" },
  tenant: { role: "tenant", team: "vision", name: "vision" },
  placeholder: { role: "ops", team: "", name: "ops" },
  hidden: { role: "viewer", team: "", name: "viewer" },
  sim: { role: "ops", team: "", name: "demo" },
  mixed: { role: "ops", team: "", name: "ops" },
  partial: { role: "ops", team: "", name: "ops" },
  empty: { role: "ops", team: "", name: "ops" },
  error: { role: "ops", team: "", name: "ops" },
  replay: { role: "ops", team: "", name: "ops" },
  big: { role: "ops", team: "", name: "ops" },
};

const clock = () => Math.floor((fixedNow ? Date.parse(fixedNow) : Date.now()) / 20_000) * 20_000;
const worlds = new Map();
function worldOf(scenario) {
  const now = clock();
  const held = worlds.get(scenario);
  if (held && held.now === now) return held;
  const world = new World({ now, scenario });
  if (held) for (const [k, v] of held.cells) if (Number(k.slice(k.lastIndexOf("/") + 1)) < now - 10 * 3_600_000) world.cells.set(k, v);
  worlds.set(scenario, world);
  return world;
}

function scenarioOf(request) {
  const cookie = /tidewatt_session=([a-z]+)/.exec(request.headers.cookie ?? "")?.[1];
  const bearer = /^Bearer ([a-z]+)$/.exec(request.headers.authorization ?? "")?.[1];
  return cookie ?? bearer ?? null;
}

let requests = 0;
function send(response, status, body, headers = {}) {
  const text = body === null ? "" : JSON.stringify(body);
  response.writeHead(status, { "Content-Type": status >= 400 ? "application/problem+json" : "application/json", "Cache-Control": "no-store", "X-Request-Id": `r-${++requests}`, ...headers });
  response.end(text);
}

const problem = (response, status, code, detail) => send(response, status, { type: `https://tidewatt.dev/problems/${code}`, title: code, status, detail, code, request_id: `r-${requests + 1}` });

function readBody(request) {
  return new Promise((resolve) => {
    let text = "";
    request.on("data", (c) => { text += c; });
    request.on("end", () => resolve(text));
  });
}

async function api(request, response, url) {
  const path = url.pathname.slice("/api/v1".length);
  if (path === "/session" && request.method === "POST") {
    if (request.headers["x-tidewatt-csrf"] !== "1") return problem(response, 403, "csrf", "header X-Tidewatt-CSRF: 1 is missing");
    const token = JSON.parse((await readBody(request)) || "{}").token ?? "";
    if (token === "revoked") return problem(response, 401, "token_revoked", "This token was revoked on 3 Nov. Ask ops for a new one.");
    if (!(token in kSessions)) return problem(response, 401, "bad_token", "This token is not known. Check that it was copied whole, or make one: tidewatt token create --role viewer");
    return send(response, 204, null, { "Set-Cookie": `tidewatt_session=${token}; HttpOnly; SameSite=Strict; Path=/` });
  }
  if (path === "/session" && request.method === "DELETE") return send(response, 204, null, { "Set-Cookie": "tidewatt_session=; Max-Age=0; Path=/" });
  const scenario = scenarioOf(request);
  const session = kSessions[scenario];
  if (!session) return problem(response, 401, "unauthenticated", "No valid session. Sign in with a token.");
  const a = new Api(worldOf(scenario), session);
  if (path === "/session") return send(response, 200, a.sessionBody());
  if (scenario === "error") return problem(response, 500, "internal", "The store did not answer within 5 s. Check the server's log for this request id.");
  if (path === "/stream") {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    const tick = () => response.write(`event: tick\ndata: ${JSON.stringify(new Api(worldOf(scenario), session).tick())}\n\n`);
    tick();
    const timer = setInterval(tick, 5000);
    request.on("close", () => clearInterval(timer));
    return undefined;
  }
  const q = url.searchParams;
  const part = path.split("/").map(decodeURIComponent);
  if (path === "/dashboard/stats") return send(response, 200, a.dashboard(q));
  if (path === "/nodes") return send(response, 200, a.nodes(q));
  if (path === "/tasks") return send(response, 200, a.tasks(q));
  if (path === "/settings/sources") return send(response, 200, a.sources());
  if (path === "/settings/coverage") {
    return send(response, 200, { rows: [
      { vendor: "NVIDIA", tool: "nvidia-smi", form: "CSV query", state: "complete", agent_sources: "nvml, tool:nvidia-smi", note: "" },
      { vendor: "Huawei", tool: "npu-smi", form: "info -t power", state: "adapted", agent_sources: "dcmi, tool:npu-smi", note: "rated power is no draw" },
      { vendor: "Google", tool: "tpu-info", form: "any", state: "no sample", agent_sources: "", note: "prints no watts" },
    ] });
  }
  if (path === "/carbon/zones") return send(response, 200, scenario === "empty" ? { zones: [] } : zones());
  if (path === "/carbon/accounting") return send(response, 200, { ...report("2026-11", q, a), period: null });
  if (part[1] === "carbon" && part.length === 4) {
    const answer = zone(worldOf(scenario), part[2], part[3], q);
    return answer ? send(response, 200, answer) : problem(response, 404, "not_found", `there is no carbon zone "${part[2]}": see /api/v1/carbon/zones`);
  }
  if (part[1] === "reports" && part.length === 3) return send(response, 200, report(part[2], q, a));
  if (path === "/quotas" || part[1] === "market") {
    const answer = market(worldOf(scenario), path, q, kSessions[scenario], scenario !== "placeholder" && scenario !== "hidden", scenario === "empty");
    return answer ? send(response, 200, answer) : problem(response, 404, "not_found", `no such path: ${url.pathname}`);
  }
  if (path === "/factors") return send(response, 200, { in_force: a.visible ? a.factor : null, catalogue: [] });
  if (part[1] === "nodes" && part.length === 3) return send(response, 200, a.node(part[2], q));
  if (part[1] === "nodes" && part[3] === "energy") return send(response, 200, a.nodeEnergy(part[2], q));
  if (part[1] === "nodes" && part[3] === "power") return send(response, 200, a.nodePower(part[2], q));
  if (part[1] === "nodes" && part[3] === "carbon-rate") return send(response, 200, a.carbonRate(part[2]));
  if (part[1] === "tasks" && part.length === 3) return send(response, 200, a.task(part[2], q));
  if (part[1] === "tasks" && part[3] === "energy") return send(response, 200, a.taskEnergy(part[2], q));
  if (part[1] === "tasks" && part[3] === "endpoints") return send(response, 200, a.taskEndpoints(part[2], q));
  if (part[1] === "tasks" && part[3] === "power") return send(response, 200, a.taskPower(part[2], q));
  return problem(response, 404, "not_found", `no such path: ${url.pathname}`);
}

function file(response, path) {
  response.writeHead(200, { "Content-Type": kTypes[extname(path)] ?? "application/octet-stream", "Content-Security-Policy": kCsp, "Cache-Control": path.includes("/assets/") ? "max-age=31536000, immutable" : "no-cache" });
  createReadStream(path).pipe(response);
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? "/", `http://${request.headers.host}`);
  if (url.pathname.startsWith("/api/v1/")) {
    api(request, response, url).catch((e) => {
      if (e instanceof Problem) problem(response, e.status, e.code, e.detail);
      else problem(response, 500, "internal", String(e?.stack ?? e));
    });
    return;
  }
  const path = normalize(join(dist, decodeURIComponent(url.pathname)));
  if (path.startsWith(dist) && existsSync(path) && statSync(path).isFile()) file(response, path);
  else file(response, join(dist, "index.html"));
});

server.listen(port, "127.0.0.1", () => console.log(`mock: http://127.0.0.1:${server.address().port} (now ${iso(clock())})`));
