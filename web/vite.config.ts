import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** For `npm run dev:page`: a service that runs already. */
const service = process.env.KIBITZ_URL ?? "http://127.0.0.1:8080";

/** The page as static files; `tools/build-page.ts` calls it. All addresses are relative, so that a proxy may strip a prefix. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  server: { proxy: { "^/(chess\\.analysis\\.v1\\.|docs|openapi\\.json|problems)": service } },
  build: {
    target: "es2022",
    // The first versions that know light-dark().
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: { polyfill: false },
    license: { fileName: "assets/licences.txt" },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
});
