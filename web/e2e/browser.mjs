// Chromium as the tests and the screenshots use it.
import { chromium } from "playwright-core";

const kArgs = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: kArgs, headless: true });

/** A signed-in page. `token` is a real token, or a scenario of the mock server. */
export async function open(browser, base, { token = process.env.TOKEN ?? "ops", lang = "en", theme = "light", zone = "utc", width = 1280, height = 800, live = true, phone = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, locale: lang === "zh" ? "zh-CN" : "en-GB", timezoneId: "Asia/Shanghai", deviceScaleFactor: phone ? 2 : 1, isMobile: phone, hasTouch: phone });
  await context.addInitScript((p) => localStorage.getItem("tidewatt.prefs") ?? localStorage.setItem("tidewatt.prefs", JSON.stringify(p)), { lang, theme, zone, live });
  if (token !== "") {
    const answer = await context.request.post(`${base}/api/v1/session`, { data: { token }, headers: { "X-Tidewatt-CSRF": "1" } });
    if (answer.status() !== 204) throw new Error(`sign-in as "${token}" at ${base}: HTTP ${answer.status()} ${await answer.text()}`);
  }
  const page = await context.newPage();
  const problems = [];
  page.on("console", (m) => { if (m.type() === "error") problems.push(m.text()); });
  page.on("pageerror", (e) => problems.push(String(e)));
  return { context, page, problems };
}

/** Goes to a path and waits until what it shows is there. */
export async function go(page, url) {
  await page.goto(url, { waitUntil: "domcontentloaded" });
  await page.waitForSelector("main", { timeout: 15_000 });
  await settled(page);
}

export async function settled(page) {
  await page.waitForFunction(() => document.querySelector(".skeleton") === null, null, { timeout: 20_000 });
  await page.waitForTimeout(250);
}
