import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const service = process.env.KIBITZ_URL ?? "http://127.0.0.1:8080";

/** Builds the page as static files. All addresses are relative, so that a proxy can strip a path prefix. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  server: { proxy: { "^/(chess\\.analysis\\.v1\\.|docs|openapi\\.json|problems)": service } },
  build: {
    target: "es2022",
    // The first versions that support `light-dark()`.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: { polyfill: false },
    license: { fileName: "assets/licences.txt" },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
});
