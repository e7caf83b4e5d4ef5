/**
 * The lite network starts at once; no search for native engines, so that every machine has the same ones. No limits:
 * a test that is not about them asks more in a minute than anybody may.
 */
export const quickestSettings = {
  KIBITZ_PORT: "0",
  KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite",
  KIBITZ_NATIVE_ENGINES: "",
  KIBITZ_ACCESS: "open",
} as const;
