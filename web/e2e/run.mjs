// End-to-end tests: npm run e2e
//   BASE_URL=http://127.0.0.1:7310 TOKEN=... npm run e2e     against a running server: the tests that hold for any data
//   npm run e2e                                              builds nothing, starts the mock server on web/dist
// E2E_COUNT names a file for the closing line "N passed, N failed".
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
if (!process.env.BASE_URL && !existsSync(`${here}../dist/index.html`)) {
  console.error("web/dist/index.html is missing; run: npm run build");
  process.exit(2);
}

function startMock() {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [`${here}../mock/server.mjs`, "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
    child.on("error", reject);
    child.stdout.on("data", (text) => {
      const url = /http:\/\/[\d.:]+/.exec(String(text));
      if (url) resolve({ child, url: url[0] });
    });
    child.on("exit", (code) => reject(new Error(`the mock server ended with ${code}`)));
  });
}

const mock = process.env.BASE_URL ? null : await startMock();
const files = mock ? ["smoke.test.mjs", "pages.test.mjs"] : ["smoke.test.mjs"];
const env = { ...process.env, BASE_URL: process.env.BASE_URL ?? mock.url, ...(mock ? { MOCK: "1", TOKEN: "ops" } : {}) };
const child = spawn(process.execPath, ["--test", "--test-reporter=tap", ...files.map((f) => here + f)], { stdio: ["ignore", "pipe", "inherit"], env });
let text = "";
child.stdout.on("data", (chunk) => {
  text += chunk;
  process.stdout.write(chunk);
});
child.on("close", (code) => {
  const count = (word) => Number(new RegExp(`^# ${word} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
  if (process.env.E2E_COUNT) writeFileSync(process.env.E2E_COUNT, `${count("pass")} passed, ${count("fail")} failed\n`);
  mock?.child.removeAllListeners("exit");
  mock?.child.kill();
  process.exit(code ?? 1);
});
