/**
 * Settings with which the service starts fastest, and the same on every machine. The lite network starts at once. No native
 * engines, because machines have different ones. No rate limits, because most tests send more requests in a minute than a plan
 * allows. No stored answers, so that every test searches. No page, because it would have to be built. No metrics, because their
 * port is the same for the whole machine.
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
