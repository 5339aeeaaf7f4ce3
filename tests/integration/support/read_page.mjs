// node read_page.mjs PLAYWRIGHT_PACKAGE_JSON BASE LOGIN_LINK PATH...: what each page says, as a JSON array of texts.
import { createRequire } from "module";

const [packageJson, base, login, ...paths] = process.argv.slice(2);
const { chromium } = createRequire(packageJson)("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium" });
try {
  const page = await (await browser.newContext({ locale: "en-GB", viewport: { width: 1440, height: 960 } })).newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(login);
  const texts = [];
  for (const path of paths) {
    await page.goto(base + path);
    await page.waitForFunction(() => /kWh|Wh|—/.test(document.body.innerText), undefined, { timeout: 20000 });
    await page.waitForTimeout(500);
    texts.push(await page.evaluate(() => document.body.innerText));
  }
  if (errors.length) throw new Error(errors.join("; "));
  console.log(JSON.stringify(texts));
} finally {
  await browser.close();
}
