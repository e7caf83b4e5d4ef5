/**
 * The lite network starts at once; no search for native engines, so that every machine has the same ones. No limits:
 * a test that is not about them asks more in a minute than anybody may. Nothing stored: what a test asks is searched, whoever
 * has asked it before. No page: it would be built. No metrics: their port is one for the whole machine.
 */
export const quickestSettings = {
  KIBITZ_PORT: "0",
  KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite",
  KIBITZ_NATIVE_ENGINES: "none",
  KIBITZ_ACCESS: "open",
  KIBITZ_STORE_MB: "0",
  KIBITZ_PAGE: "off",
  KIBITZ_METRICS_PORT: "0",
} as const;
