// Fails the build when the bundle outgrows its budget or the page could not load under its content security policy.
import { readFileSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";

const kBudgetBytes = 300_000;
const dist = new URL("../dist/", import.meta.url);
let total = 0;
for (const name of readdirSync(new URL("assets/", dist))) {
  total += gzipSync(readFileSync(new URL(`assets/${name}`, dist)), { level: 9 }).length;
}
const html = readFileSync(new URL("index.html", dist), "utf8");
const inline = /<script(?![^>]*\bsrc=)[^>]*>|<style|\sstyle=|\son[a-z]+=/i.exec(html);
if (inline) {
  console.error(`dist/index.html: inline code "${inline[0]}" would be blocked by the content security policy; move it into src/`);
  process.exit(1);
}
console.log(`bundle: ${(total / 1000).toFixed(1)} kB gzip of ${kBudgetBytes / 1000} kB`);
if (total > kBudgetBytes) {
  console.error(`bundle: ${total} bytes gzip is over the budget of ${kBudgetBytes}; look for a dependency that can go`);
  process.exit(1);
}
