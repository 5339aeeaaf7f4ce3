import { defineConfig } from "vitest/config";

// The API runs elsewhere while developing: TIDEWATT_API=http://127.0.0.1:7310 npm run dev
const api = process.env["TIDEWATT_API"] ?? "http://127.0.0.1:7399";

export default defineConfig({
  esbuild: { jsx: "automatic" },
  build: {
    rollupOptions: {
      onwarn: (w, warn) => (w.code === "MODULE_LEVEL_DIRECTIVE" ? undefined : warn(w)),
    },
    target: "es2022",
    outDir: "dist",
    assetsDir: "assets",
    // The page is served under CSP default-src 'self': data: URLs and inline scripts would be blocked.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": { target: api, changeOrigin: false } } },
  preview: { proxy: { "/api": { target: api, changeOrigin: false } } },
  test: { include: ["src/**/*.test.ts", "src/**/*.test.tsx"], environment: "node" },
});
