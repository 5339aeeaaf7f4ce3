// Against the mock server, whose data have every awkward case.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { go, launch, open, settled } from "./browser.mjs";

const base = process.env.BASE_URL;
let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

async function on(options, path, check) {
  const { context, page, problems } = await open(browser, base, options);
  await go(page, base + path);
  await check(page, problems);
  await context.close();
}

test("unknown is a dash with its reason; a true zero is a number", async () => {
  await on({}, "/nodes", async (page) => {
    const silent = page.locator("tr[data-row=gpu-a07]");
    assert.match(await silent.innerText(), /—/);
    assert.match(await silent.locator(".unknown").first().getAttribute("aria-label"), /unknown: .*silent/);
    const idle = await page.locator("tr[data-row=idle-e01] td").allInnerTexts();
    assert.equal(idle[4], "0", "0 W is a reading, not unknown");
  });
});

test("unknown sorts last in both directions", async () => {
  for (const sort of ["power_watts", "-power_watts"]) {
    await on({}, `/nodes?sort=${sort}`, async (page) => {
      const column = await page.locator("tbody tr[data-row] td:nth-child(5)").allInnerTexts();
      assert.equal(column.at(-1), "—", sort);
      assert.ok(!column.slice(0, -1).includes("—"));
    });
  }
});

test("measured and estimated never share a chart", async () => {
  await on({}, "/nodes/gpu-a01", async (page) => {
    assert.equal(await page.locator("[data-chart=gpu]").count(), 1);
    assert.equal(await page.locator("[data-chart=cpu]").count(), 1);
    assert.match(await page.locator("[data-chart=cpu]").innerText(), /est\.[\s\S]*in no total/);
    assert.doesNotMatch(await page.locator("[data-chart=gpu]").innerText(), /est\./);
  });
  await on({}, "/nodes/amd-c02", async (page) => {
    assert.match(await page.locator("[data-chart=cpu]").innerText(), /No estimate: the server has no CPU power model/);
  });
});

test("a device has its colour by index, alone or among others", async () => {
  const colour = async (page, index) => page.locator(`[data-chart=gpu] .legend button[data-index="${index}"] .glyph`).evaluate((e) => getComputedStyle(e).color);
  await on({}, "/nodes/gpu-a01", async (page) => {
    assert.equal(await colour(page, 0), "rgb(84, 93, 243)");
    assert.equal(await colour(page, 3), "rgb(143, 45, 133)");
    assert.equal(await colour(page, -1), "rgb(107, 114, 128)", "grey is the sum's");
  });
  await on({}, `/nodes/gpu-b02?dev.gpu=${encodeURIComponent("gpu-b02/gpu/11")}`, async (page) => {
    assert.equal(await colour(page, 11), "rgb(143, 45, 133)");
    assert.match(await page.locator("[data-chart=gpu] .legend").innerText(), /\+15 devices/);
  });
  await on({}, "/tasks/train-8", async (page) => {
    assert.equal(await page.locator("[data-chart=task] .legend").count(), 0, "one line needs no legend");
  });
});

test("at most eight device lines are drawn", async () => {
  await on({}, "/nodes/gpu-b02", async (page) => {
    assert.equal(await page.locator("[data-chart=gpu] .legend button").count(), 9, "eight and the sum");
    assert.match(await page.locator("[data-chart=gpu] .legend").innerText(), /\+8 devices/);
  });
});

test("a gap is a gap: no pixel of the line inside it, hatch in the strip", async () => {
  await on({}, "/nodes/gpu-a01?range=1h", async (page) => {
    const body = await (await page.context().request.get(`${base}/api/v1/nodes/gpu-a01/power?range=1h`)).json();
    const gap = body.gaps.find((g) => g.cause === "no_data" && Date.parse(g.from) > Date.parse(body.from) && Date.parse(g.to) < Date.parse(body.to));
    assert.ok(gap, "the mock has a gap in the last hour");
    assert.ok(Number(await page.locator("[data-chart=gpu] .strip").getAttribute("data-gaps")) >= 1);
    const seen = await page.evaluate(({ from, to, a, b }) => {
      const canvas = document.querySelector("[data-chart=gpu] .uplot canvas");
      const ctx = canvas.getContext("2d");
      const ratio = canvas.width / canvas.clientWidth;
      const left = 58 * ratio;
      const width = canvas.width - left - 14 * ratio;
      const at = (t) => Math.round(left + ((t - from) / (to - from)) * width);
      const ink = (x) => {
        let n = 0;
        const d = ctx.getImageData(x, Math.round(14 * ratio), 1, canvas.height - Math.round(62 * ratio)).data;
        // Saturated pixels belong to device lines; grid, limits and background are greys.
        for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 80 && Math.max(d[i], d[i + 1], d[i + 2]) - Math.min(d[i], d[i + 1], d[i + 2]) > 60) n += 1;
        return n;
      };
      const middle = (a + b) / 2;
      return { inside: [0.35, 0.5, 0.65].map((k) => ink(at(a + (b - a) * k))), before: ink(at(a - (b - a))), middle };
    }, { from: Date.parse(body.from), to: Date.parse(body.to), a: Date.parse(gap.from), b: Date.parse(gap.to) });
    assert.ok(seen.before > 3, `lines are drawn beside the gap (${seen.before})`);
    assert.deepEqual(seen.inside, [0, 0, 0], "something is drawn inside the gap");
  });
});

test("a node's page names each source with its state and why it gives nothing, in both languages", async () => {
  for (const [lang, state, why] of [["en", /gives nothing/, /couldn't be opened/], ["zh", /没有读数/, /无法打开厂商库/]]) {
    const { page, context } = await open(browser, base, { lang });
    await go(page, `${base}/nodes/gpu-a07`);
    const row = page.locator("[data-card=sources] [data-row=huawei]");
    assert.match(await row.innerText(), state);
    assert.match(await row.innerText(), why);
    assert.match(await row.innerText(), /libdcmi\.so/);
    assert.equal(await page.locator("[data-card=sources] tbody tr").count(), 4);
    await context.close();
  }
});

test("an hour without data is a hatched column, never a zero", async () => {
  await on({ token: "partial" }, "/", async (page) => {
    assert.equal(await page.locator("[data-bar=unknown]").count(), 1);
    assert.match(await page.locator(".bars figcaption").innerText(), /1 hour without data/);
  });
});

test("coverage below 99% is said in words", async () => {
  await on({}, "/", async (page) => assert.match(await page.locator("main").innerText(), /% covered, .* missing\. Real energy is higher than shown\./));
  await on({ lang: "zh" }, "/nodes/gpu-a01", async (page) => assert.match(await page.locator("main").innerText(), /覆盖率 9\d\.\d%，缺失 .*。实际能耗高于所示。/));
});

test("a source that fell silent isn't called booked", async () => {
  await on({}, "/settings", async (page) => {
    const silent = page.locator("tr[data-row]", { hasText: "silent, nothing is booked" });
    assert.ok(await silent.count() > 0);
    assert.equal(await silent.locator(".state.live").count(), 0);
    assert.match(await silent.first().innerText(), /Look at the agent there\./);
  });
});

test("simulated data carry SIM on each card and a banner", async () => {
  await on({ token: "sim" }, "/", async (page) => {
    assert.equal(await page.locator(".banner.sim").count(), 1);
    assert.equal(await page.locator(".kpi .badge.sim").count(), 4);
    assert.equal(await page.locator("figure.bars .badge.sim").count(), 1);
    assert.equal(await page.locator(".top .badge.sim").count(), 1);
  });
  await on({ token: "sim" }, "/settings", async (page) => assert.ok(await page.locator("tr[data-row] .badge.sim").count() > 0));
  await on({ token: "sim" }, "/tasks/train-8", async (page) => assert.doesNotMatch(await page.locator("main").innerText(), /\bmeasured\b/));
  await on({}, "/", async (page) => assert.equal(await page.locator(".badge.sim").count(), 0));
});

test("a placeholder factor is marked for operators, carbon hidden from others with the reason", async () => {
  await on({ token: "placeholder" }, "/", async (page) => {
    assert.match(await page.locator(".banner.warn").innerText(), /Placeholder factor/);
    assert.match(await page.locator("[data-card=carbon]").innerText(), /placeholder factor/);
  });
  await on({ token: "hidden" }, "/", async (page) => {
    const card = await page.locator("[data-card=carbon]").innerText();
    assert.match(card, /Carbon is hidden: no emission factor is configured/);
    assert.doesNotMatch(card, /kg/);
    assert.equal(await page.locator("th", { hasText: "Carbon" }).count(), 0);
  });
});

test("the factor and its source stand beside the carbon value", async () => {
  await on({}, "/", async (page) => assert.match(await page.locator("[data-card=carbon]").innerText(), /0\.5366 kg\sCO₂\/kWh · MEE 2022/));
});

test("a shared task says what is measured and what is estimated", async () => {
  await on({}, "/tasks/train-8", async (page) => {
    const text = await page.locator("main").innerText();
    assert.match(text, /shared \(estimated\)/);
    assert.match(text, /Shared by 2 tasks\. Your ≈ 66\.0% is an estimate by compute use; the card's total is not\./);
    assert.match(text, /The curve is the whole card, not only this task\./);
    assert.match(text, /Σ = total, exact to the microjoule/);
  });
});

test("tokens per joule are a dash with the reason", async () => {
  await on({}, "/tasks/llm-serve-1", async (page) => assert.match(await page.locator("main").innerText(), /—\s+Energy was recorded, but no tokens were reported\./));
});

test("a training task shows its progress, what it will still need with its band, and how good the first prediction was", async () => {
  await on({}, "/tasks/train-7", async (page) => {
    const text = await page.locator("main").innerText();
    assert.match(text, /Epoch 23 of 40/);
    assert.match(text, /90% between .*kWh and .*kWh/);
    assert.match(text, /for the 17 epochs that remain/);
    assert.match(text, /was \+0\.4% off over the next 18: inside its 90% band/);
  });
});

test("an empty installation says what to run", async () => {
  await on({ token: "empty" }, "/", async (page) => {
    assert.match(await page.locator("main").innerText(), /No node has reported yet\. Run: tidewatt-agent --server http/);
    assert.equal(await page.locator(".kpi .big .unknown").count(), 4);
  });
});

test("a failed request shows its detail, its id and a way to retry", async () => {
  await on({ token: "error" }, "/nodes", async (page) => {
    const text = await page.locator("[role=alert]").first().innerText();
    assert.match(text, /Couldn't load the nodes: .*store.* \(request r-\d+\)/);
    assert.equal(await page.locator("button", { hasText: "Retry" }).count(), 1);
  });
});

test("10,412 nodes: the count first, 200 rows loaded, few of them in the page", async () => {
  await on({ token: "big" }, "/nodes", async (page) => {
    assert.match(await page.locator(".toolbar").innerText(), /10,412 nodes/);
    assert.ok(await page.locator("tbody tr[data-row]").count() < 130);
    assert.match(await page.locator(".more").innerText(), /200 of 10,412 shown/);
  });
});

test("selecting rows gives their subtotal", async () => {
  await on({}, "/nodes", async (page) => {
    await page.locator("tr[data-row=gpu-a02] input").check();
    await page.locator("tr[data-row=gpu-a03] input").check();
    assert.match(await page.locator(".selection").innerText(), /2 nodes selected · [\d.,]+\skWh · [\d.,]+\sk?W · coverage/);
  });
});

test("t shows the chart as a table, and the address keeps it", async () => {
  await on({}, "/nodes/gpu-a01", async (page) => {
    await page.keyboard.press("t");
    await page.waitForSelector("[data-chart=gpu] .chart-table");
    assert.match(page.url(), /view=table/);
    const head = await page.locator("[data-chart=gpu] th").allInnerTexts();
    assert.ok(head.length === 10 && head[1] === "GPU 0, W");
  });
});

test("hiding a line and zooming are in the address and survive a refresh", async () => {
  await on({}, "/nodes/gpu-a01?range=1h", async (page) => {
    await page.locator("[data-chart=gpu] .legend button[data-index='1']").click();
    assert.match(decodeURIComponent(page.url()), /hide\.gpu=gpu-a01\/gpu\/1/);
    const plot = await page.locator("[data-chart=gpu] .u-over").boundingBox();
    await page.mouse.move(plot.x + plot.width * 0.2, plot.y + 50);
    await page.mouse.down();
    await page.mouse.move(plot.x + plot.width * 0.6, plot.y + 50, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => location.search.includes("zoom="));
    // The pointer is still inside: the zoom and its finer curve are shown all the same.
    const shown = () => page.locator("[data-chart=gpu]").evaluate((e) => e.dataset.window);
    const [, from, to] = /zoom=(\d+)-(\d+)/.exec(page.url());
    await page.waitForFunction((w) => document.querySelector("[data-chart=gpu]")?.dataset.window === w, `${from}-${to}`, { timeout: 3000 });
    await settled(page);
    assert.equal(await shown(), `${from}-${to}`);
    assert.equal(await page.locator("[data-chart=gpu] .pill").count(), 0, "no update waits after a zoom");
    assert.equal(await page.locator("[data-chart=gpu] .tip").filter({ hasText: "pinned" }).count(), 0, "a drag pins nothing");
    await page.keyboard.press("r");
    await settled(page);
    assert.match(page.url(), /zoom=/);
    await page.locator("button", { hasText: "Reset zoom" }).first().click();
    assert.doesNotMatch(page.url(), /zoom=/);
  });
});

test("the tooltip lists all visible lines", async () => {
  await on({}, "/nodes/gpu-a01?range=1h", async (page) => {
    const plot = await page.locator("[data-chart=gpu] .u-over").boundingBox();
    await page.mouse.move(plot.x + plot.width * 0.1, plot.y + 60);
    await page.mouse.move(plot.x + plot.width * 0.1 + 2, plot.y + 60);
    await page.waitForSelector("[data-chart=gpu] .tip");
    assert.equal(await page.locator("[data-chart=gpu] .tip-row").count(), 8, "the sum is drawn when asked for");
    await page.locator("[data-chart=gpu] label", { hasText: "node sum" }).click();
    await page.mouse.move(plot.x + plot.width * 0.1, plot.y + 60);
    await page.mouse.move(plot.x + plot.width * 0.1 + 3, plot.y + 60);
    await page.waitForFunction(() => document.querySelectorAll("[data-chart=gpu] .tip-row").length === 9);
    assert.match(await page.locator("[data-chart=gpu] .tip-title").innerText(), /UTC$/);
  });
});

test("auto-refresh is on by default", async () => {
  await on({}, "/nodes/gpu-a01", async (page) => {
    assert.ok(await page.locator("[role=switch]").isChecked());
    assert.match(await page.locator("main").innerText(), /Refresh every 30 s/);
  });
  await on({}, "/tasks/train-7", async (page) => assert.match(await page.locator("main").innerText(), /Refresh every 20 s/));
});

test("a lost stream is said, with the time of the data", async () => {
  const { context, page } = await open(browser, base, {});
  await page.route("**/api/v1/stream", (route) => route.abort());
  await page.clock.install();
  await go(page, `${base}/`).catch(() => undefined);
  await page.clock.runFor(40_000);
  await page.waitForSelector(".banner.bad", { timeout: 10_000 });
  assert.match(await page.locator(".banner.bad").innerText(), /Live updates lost\. Data as of .* UTC; retrying\./);
  await context.close();
});

test("at least 24 rows fit on 1280 × 800", async () => {
  for (const path of ["/nodes", "/tasks", "/settings"]) {
    await on({}, path, async (page) => {
      const rows = await page.locator("tbody tr[data-row], tfoot tr").evaluateAll((all) => all.filter((r) => { const b = r.getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight + 1; }).length);
      assert.ok(rows >= 24, `${path}: ${rows} rows`);
    });
  }
});

test("both themes use the tokens", async () => {
  for (const [theme, ground] of [["light", "rgb(246, 247, 249)"], ["dark", "rgb(13, 17, 23)"]]) {
    await on({ theme }, "/", async (page) => assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), ground));
  }
});

test("a tenant sees the own team's tasks only, with a total of them", async () => {
  await on({ token: "tenant" }, "/tasks", async (page) => {
    assert.ok((await page.locator("tbody tr[data-row] td:nth-child(2)").allInnerTexts()).every((x) => x === "vision"));
  });
});

test("a team's sign-in opens every page, and says what it is not shown", async () => {
  for (const lang of ["en", "zh"]) {
    const { context, page, problems } = await open(browser, base, { token: "tenant", lang });
    for (const path of ["/", "/?tab=nodes", "/?tab=teams", "/nodes", "/nodes/gpu-a01", "/tasks", "/tasks/train-8", "/settings", "/?drawer=power~cluster~", "/?drawer=energy~cluster~", "/nodes/gpu-a01?drawer=power~node~gpu-a01"]) {
      await go(page, base + path);
      assert.equal(await page.locator(".message.bad").count(), 0, `${path}: ${await page.locator(".message.bad").allInnerTexts()}`);
      const text = await page.locator(".shell").innerText();
      assert.doesNotMatch(text, /\bNaN\b|\bundefined\b|\bnull\b|reports no accelerator|\d+ of \d+ devices/, path);
      assert.equal(await page.locator("[data-unattributed]").count(), 0, path);
    }
    assert.deepEqual(problems, []);
    await context.close();
  }
  await on({ token: "tenant" }, "/tasks", async (page) => {
    const sum = (await page.locator("tr[data-row]").evaluateAll((all) => all.map((r) => r.dataset.uj))).filter((x) => x !== "").reduce((s, x) => s + BigInt(x), 0n);
    assert.equal(await page.locator("[data-total]").getAttribute("data-total"), sum.toString());
    assert.match(await page.locator("main").innerText(), /aren't shown to a team\. Ask an operator/);
  });
  await on({ token: "tenant" }, "/nodes/gpu-a01", async (page) => assert.match(await page.locator("main").innerText(), /Only your team's tasks are shown\. Ask an operator/));
});

test("a replayed log is never taken for live data", async () => {
  await on({ token: "replay" }, "/nodes", async (page) => {
    assert.match(await page.locator(".banner.replay").innerText(), /Replay of a recorded log, not live\./);
    assert.equal(await page.locator("td.name .badge.replay").count(), 1);
  });
  await on({}, "/nodes", async (page) => assert.equal(await page.locator(".badge.replay").count(), 0));
});

test("an empty filter says what there is none of", async () => {
  await on({ token: "tenant" }, "/nodes?state=silent", async (page) => assert.match(await page.locator(".message.empty").innerText(), /No node is silent\./));
});

test("a zone shows its chain, its forecast's band and score; what isn't known is hatched", async () => {
  await on({}, "/carbon?zone=CN-NM", async (page, problems) => {
    assert.match(await page.locator(".chain .here").innerText(), /own forecast/);
    assert.match(await page.locator("main").innerText(), /no value for now/);
    assert.equal(await page.locator("polygon.band").count() > 0, true);
    assert.match(await page.locator("main").innerText(), /provider 5\.00% \/ own 4\.40%/);
    assert.equal(await page.locator(".heat rect[data-none]").count() > 0, true);
    assert.deepEqual(problems, []);
  });
  await on({}, "/carbon?zone=SE", async (page) => {
    assert.match(await page.locator("tr[data-row=SE]").innerText(), /—/);
    assert.doesNotMatch(await page.locator("main").innerText(), /NaN|undefined/);
  });
});

test("node and task show carbon by the hourly signal beside the annual factor, with kind and quality; hidden where carbon is", async () => {
  await on({}, "/nodes/gpu-a01", async (page) => {
    const now = await page.locator("[data-method=hourly_signal]").innerText();
    assert.match(now, /612 g\/kWh · average · life cycle · consumption · forecast/);
    assert.match(now, /▲ own forecast/);
  });
  await on({ lang: "zh" }, "/tasks/train-7", async (page) => {
    const text = await page.locator("[data-card=carbon]").innerText();
    assert.match(text, /年度因子法/);
    assert.match(text, /逐时信号法.*96\.8% 的能耗有已知碳强度 · 平均 · 直接排放/s);
  });
  for (const path of ["/nodes/gpu-a01", "/tasks/train-7"])
    await on({ token: "hidden" }, path, async (page) => assert.equal(await page.locator("[data-method=hourly_signal]").count(), 0, path));
});

test("a zone that is off says so in one language, and its newest days fit a phone", async () => {
  await on({ lang: "zh" }, "/carbon?zone=SE", async (page) => {
    const text = await page.locator(".message.warn").innerText();
    assert.match(text, /SE 无可用信号：.*应答超时/);
    assert.doesNotMatch(text, /[a-z]{3,} [a-z]{3,}/);
  });
  await on({ width: 390, height: 844, phone: true }, "/carbon?zone=DE", async (page) => {
    const box = await page.locator(".heat svg").first().boundingBox();
    assert.equal(box.x + box.width <= 390, true, JSON.stringify(box));
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth) <= 390, true);
  });
});

test("a report has both methods side by side, says what is uncovered, and why a figure is missing", async () => {
  await on({}, "/reports?scope=team", async (page, problems) => {
    const text = await page.locator("main").innerText();
    for (const said of [/Annual factor/, /Hourly signal/, /24 hours with/, /came after the seal/, /unattributed, in no line/, /PUE 1\.25, metered over 701 hours/, /CUE 0\.475 kg per kWh of IT energy, by the annual factor/, /WUE 1\.80? L/, /7 moved tasks \(1 without a figure\)/]) assert.match(text, said);
    assert.match(await page.locator(".report-table .unknown").first().getAttribute("aria-label"), /direct/);
    assert.equal(await page.locator("a[href*='format=csv']").count(), 1);
    assert.deepEqual(problems, []);
  });
});

test("teams' budgets: what is left, an overdraft past the end, what isn't known; a team sees its own", async () => {
  await on({}, "/teams", async (page, problems) => {
    const text = await page.locator("main").innerText();
    for (const said of [/vision/, /612/, /70\.0%/, /Overdraft/, /31\.5/, /Trades/, /0\.11/]) assert.match(text, said);
    assert.equal(await page.locator(".budget-over").count(), 1);
    assert.equal(await page.locator(".budget-mark").count(), 1);
    assert.match(await page.locator(".budget-bar").first().getAttribute("aria-label"), /612 used, 88/);
    assert.deepEqual(problems, []);
  });
  await on({ token: "hidden" }, "/teams", async (page) => {
    const text = await page.locator("main").innerText();
    assert.match(text, /nobody is held to a budget/);
    assert.match(text, /—/);
    assert.doesNotMatch(text, /NaN|undefined|612/);
  });
  await on({ token: "tenant", lang: "zh" }, "/teams", async (page, problems) => {
    const text = await page.locator("main").innerText();
    assert.match(text, /碳预算/);
    assert.match(text, /本团队/);
    assert.doesNotMatch(text, /speech/);
    assert.deepEqual(problems, []);
  });
  await on({ token: "empty" }, "/teams", async (page) => assert.match(await page.locator("main").innerText(), /No team has a carbon budget/));
});

test("without a factor a viewer's report has energy and no carbon", async () => {
  await on({ token: "hidden" }, "/reports", async (page) => {
    const text = await page.locator("main").innerText();
    assert.match(text, /kWh/);
    assert.doesNotMatch(text, /Annual factor|CO₂/);
  });
});
