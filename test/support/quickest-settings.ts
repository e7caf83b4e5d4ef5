/**
 * Settings for a quick start that is the same on every machine:
 * - the lite network in the build of the npm package, which starts fastest, and no native engines, which differ between
 *   machines. Tests of the default build, and tests that measure an engine, set `KIBITZ_WASM_BUILD` to `fast`.
 * - no rate limits, because tests send many requests
 * - no stored answers, so that every test searches
 * - no web page, which would have to be built
 * - no metrics, because all servers would use the same port
 */
export const quickestSettings = {
  KIBITZ_PORT: "0",
  KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite",
  KIBITZ_WASM_BUILD: "npm",
  KIBITZ_NATIVE_ENGINES: "none",
  KIBITZ_ACCESS: "open",
  KIBITZ_STORE_MB: "0",
  KIBITZ_PAGE: "off",
  KIBITZ_METRICS_PORT: "0",
} as const;
