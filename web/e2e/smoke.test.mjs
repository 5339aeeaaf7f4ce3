// Holds for any data: run it against the mock server or a real one (BASE_URL, TOKEN).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { go, launch, open, settled } from "./browser.mjs";

const base = process.env.BASE_URL;
const token = process.env.TOKEN ?? "ops";
let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

async function ids(page, path, list, id) {
  const answer = await page.context().request.get(`${base}/api/v1${path}`);
  return ((await answer.json())[list] ?? []).map((x) => x[id]);
}

/** Paths of all pages, with one node and one task where there are any. */
async function paths(page) {
  const nodes = await ids(page, "/nodes", "nodes", "node_id");
  const tasks = await ids(page, "/tasks", "tasks", "task_id");
  return ["/", "/nodes", ...nodes.slice(0, 1).map((n) => `/nodes/${encodeURIComponent(n)}`), "/tasks", ...tasks.slice(0, 1).map((t) => `/tasks/${encodeURIComponent(t)}`), "/settings"];
}

const forbidden = /\bNaN\b|\bundefined\b|\bnull\b|\[object |Infinity|\{\w+\}/;
const sidewise = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;

for (const [name, options] of [["1280 px, light, English", { lang: "en", theme: "light" }], ["1280 px, dark, Chinese", { lang: "zh", theme: "dark" }], ["phone, English", { lang: "en", width: 390, height: 844, phone: true }]]) {
  test(`every page at ${name}: no forbidden word, no console error, no horizontal scroll`, async () => {
    const { context, page, problems } = await open(browser, base, { ...options, token });
    for (const path of await paths(page)) {
      await go(page, base + path);
      const text = await page.locator("main").innerText();
      assert.doesNotMatch(text, forbidden, `${path}: ${forbidden.exec(text)?.[0]}`);
      assert.ok(await page.evaluate(sidewise) <= 0, `${path} scrolls sidewise by ${await page.evaluate(sidewise)} px`);
      assert.equal(await page.locator("html").getAttribute("lang"), options.lang === "zh" ? "zh-CN" : "en");
    }
    assert.deepEqual(problems, []);
    await context.close();
  });
}

test("no language is mixed into the other's navigation and headings", async () => {
  const { context, page } = await open(browser, base, { token, lang: "zh" });
  for (const path of ["/", "/nodes", "/tasks", "/settings"]) {
    await go(page, base + path);
    for (const text of await page.locator("nav a span, h1, h2, th").allInnerTexts()) {
      if (/^(|Tidewatt|UUID|°C)$/.test(text.trim())) continue;
      assert.match(text, /\p{Script=Han}/u, `${path}: "${text}" is not Chinese`);
    }
  }
  await page.locator("[data-control=language] button", { hasText: "EN" }).click();
  for (const text of await page.locator("nav a span, h1, h2, th").allInnerTexts()) assert.doesNotMatch(text, /\p{Script=Han}/u);
  await page.reload();
  await settled(page);
  assert.equal(await page.locator("html").getAttribute("lang"), "en", "the choice lasts over a reload");
  await context.close();
});

test("the unattributed row is listed and the rows add up to the printed total, to the microjoule", async () => {
  const { context, page } = await open(browser, base, { token });
  await go(page, `${base}/tasks`);
  const { rows, loose, total } = await page.evaluate(() => ({
    rows: [...document.querySelectorAll("tr[data-row]")].map((r) => r.dataset.uj),
    loose: document.querySelector("[data-unattributed]")?.dataset.unattributed,
    total: document.querySelector("[data-total]")?.dataset.total,
  }));
  assert.notEqual(loose, undefined, "no unattributed row");
  if (total !== "" && await page.locator(".more").count() === 0) {
    const sum = [...rows, loose].filter((x) => x !== "").reduce((s, x) => s + BigInt(x), 0n);
    assert.equal(sum.toString(), total);
  }
  assert.equal(await page.locator(".message.bad").count(), 0);
  await context.close();
});

test("every figure of the dashboard opens its evidence, and Escape closes it", async () => {
  const { context, page, problems } = await open(browser, base, { token });
  await go(page, `${base}/`);
  const figures = page.locator(".kpi .figure");
  for (let i = 0; i < await figures.count(); i += 1) {
    await figures.nth(i).click();
    await page.waitForSelector("[data-drawer]");
    await settled(page);
    assert.match(page.url(), /drawer=/);
    assert.doesNotMatch(await page.locator("[data-drawer]").innerText(), forbidden);
    await page.keyboard.press("Escape");
    await page.waitForSelector("[data-drawer]", { state: "detached" });
  }
  assert.deepEqual(problems, []);
  await context.close();
});

test("keys go to the pages, open the help and focus the search", async () => {
  const { context, page } = await open(browser, base, { token });
  await go(page, `${base}/`);
  for (const [key, path] of [["n", "/nodes"], ["t", "/tasks"], ["s", "/settings"], ["d", "/"]]) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await page.waitForFunction((p) => location.pathname === p, path);
  }
  await page.keyboard.press("?");
  await page.waitForSelector("[role=dialog]");
  await page.keyboard.press("Escape");
  await page.waitForSelector("[role=dialog]", { state: "detached" });
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("type")), "search");
  await context.close();
});

test("a wrong token is refused with what to do, and an asked-for page is returned to", async () => {
  const { context, page } = await open(browser, base, { token: "" });
  await page.goto(`${base}/nodes?range=6h`);
  await page.waitForSelector("form input[name=token]");
  assert.match(page.url(), /login-page\?next=/);
  await page.fill("input[name=token]", "wrong");
  await page.click("button[type=submit]");
  await page.waitForSelector(".login-error");
  assert.doesNotMatch(await page.locator(".login-error").innerText(), forbidden);
  await page.fill("input[name=token]", token);
  await page.click("button[type=submit]");
  await page.waitForSelector("main .toolbar");
  assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, "/nodes?range=6h");
  await context.close();
});

test("where a node is simulated, every page says so", async () => {
  const { context, page } = await open(browser, base, { token });
  const session = await (await page.context().request.get(`${base}/api/v1/session`)).json();
  for (const path of ["/", "/nodes", "/tasks"]) {
    await go(page, base + path);
    assert.equal(await page.locator(".banner.sim").count(), session.simulated ? 1 : 0, path);
  }
  await context.close();
});
