// Pictures of every page: node scripts/screenshots.mjs BASE_URL OUTDIR [scenario]
// The token comes from TOKEN; without it the mock server's scenarios are used.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { go, launch, open } from "../e2e/browser.mjs";

const [base, out] = process.argv.slice(2);
if (!base || !out) {
  console.error("usage: node scripts/screenshots.mjs BASE_URL OUTDIR");
  process.exit(2);
}
mkdirSync(out, { recursive: true });
const real = process.env.TOKEN;
const only = process.env.ONLY;
const browser = await launch();

async function names(page, path, key, id) {
  const answer = await page.context().request.get(`${base}/api/v1${path}`);
  return answer.ok() ? ((await answer.json())[key] ?? []).map((x) => x[id]) : [];
}

async function shoot(name, options, path, then) {
  if (only && !name.includes(only)) return;
  const { context, page, problems } = await open(browser, base, { ...options, token: real ?? options.token ?? "ops" });
  const target = typeof path === "function" ? await path(page) : path;
  if (target === null) {
    console.log(`${name}: nothing to show, skipped`);
  } else {
    await go(page, base + target);
    if (then) await then(page);
    await page.screenshot({ path: join(out, `${name}.png`), fullPage: options.full ?? false });
    console.log(`${name}.png${problems.length > 0 ? ` console: ${problems.join(" | ")}` : ""}`);
  }
  await context.close();
}

const firstNode = async (page) => {
  const all = await names(page, "/nodes", "nodes", "node_id");
  return all.length > 0 ? `/nodes/${all.includes("gpu-a01") ? "gpu-a01" : all[0]}` : null;
};
const firstTask = async (page) => {
  const all = await names(page, "/tasks", "tasks", "task_id");
  return all.length > 0 ? `/tasks/${all.includes("train-8") ? "train-8" : all[0]}` : null;
};
const pages = [["dashboard", "/"], ["nodes", "/nodes"], ["node", firstNode], ["tasks", "/tasks"], ["task", firstTask], ["settings", "/settings"]];

for (const [name, path] of pages) {
  await shoot(`${name}-light-en`, { lang: "en", theme: "light" }, path);
  await shoot(`${name}-dark-zh`, { lang: "zh", theme: "dark", zone: "browser" }, path);
}
await shoot("node-full-en", { lang: "en", theme: "light", full: true }, firstNode);
await shoot("dashboard-phone", { lang: "zh", theme: "light", width: 390, height: 844, phone: true }, "/");
await shoot("evidence-light-en", { lang: "en", theme: "light" }, "/?drawer=carbon~cluster~");
await shoot("table-light-en", { lang: "en", theme: "light" }, async (p) => { const n = await firstNode(p); return n && `${n}?view=table`; });
if (!real) {
  await shoot("wide-node-en", { lang: "en", theme: "light", full: true }, "/nodes/gpu-b02");
  await shoot("silent-node-en", { lang: "en", theme: "light", full: true }, "/nodes/gpu-a07");
  await shoot("tip-en", { lang: "en", theme: "dark" }, "/nodes/gpu-a01", async (p) => { const b = await p.locator("[data-chart=gpu] .plot").boundingBox(); await p.mouse.move(b.x + b.width * 0.62, b.y + 80); await p.waitForTimeout(200); });
  await shoot("week-en", { lang: "en", theme: "light" }, "/?range=7d");
  await shoot("placeholder-en", { token: "placeholder" }, "/");
  await shoot("hidden-zh", { token: "hidden", lang: "zh" }, "/");
  await shoot("sim-dark-en", { token: "sim", theme: "dark" }, "/");
  await shoot("empty-en", { token: "empty" }, "/");
  await shoot("error-zh", { token: "error", lang: "zh" }, "/");
  await shoot("big-en", { token: "big" }, "/nodes");
}
await browser.close();

const fresh = await launch();
for (const [name, options, path] of [["login-light-en", { lang: "en", theme: "light" }, "/login-page"], ["login-used-en", { lang: "en", theme: "light" }, "/login-page?error=used"], ["login-dark-zh", { lang: "zh", theme: "dark" }, "/login-page"]]) {
  if (only && !name.includes(only)) continue;
  const context = await fresh.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript((p) => localStorage.setItem("tidewatt.prefs", JSON.stringify(p)), options);
  const page = await context.newPage();
  await page.goto(base + path);
  await page.waitForSelector("form");
  await page.screenshot({ path: join(out, `${name}.png`) });
  console.log(`${name}.png`);
  await context.close();
}
await fresh.close();
