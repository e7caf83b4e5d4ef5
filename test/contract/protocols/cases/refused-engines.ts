import type { Plain } from "../protocol.ts";
import { type RefusalCase, startFen } from "./case.ts";

const common = { kind: "refusal", call: "evaluate" } as const;

const badPath = (name: string, wanted: Plain): RefusalCase => ({
  ...common,
  name,
  request: { fen: startFen, path: "native", ...wanted },
  code: "path_unavailable",
  nextAction: "use_auto_path",
  pointers: ["/path"],
});

const badOptions = (
  name: string,
  options: Plain,
  code: "invalid_option" | "option_not_allowed",
  wrong: readonly string[],
  suggestedOptions?: Plain,
): RefusalCase => ({
  ...common,
  name,
  request: { fen: startFen, options },
  code,
  nextAction: suggestedOptions ? "send_suggested_request" : "fix_request",
  ...(suggestedOptions && { suggestion: { fen: startFen, options: suggestedOptions } }),
  pointers: wrong.map((option) => `/options/${option}`),
});

/** Every protocol rejects these engines, engine paths and options with the same code and violations. */
export const refusedEngines: readonly RefusalCase[] = [
  {
    ...common,
    name: "an engine that is not there",
    request: { fen: startFen, engine: "deep-thought" },
    code: "unknown_engine",
    nextAction: "list_engines",
    pointers: ["/engine"],
  },
  {
    ...common,
    name: "an engine whose name no header carries as it is",
    request: { fen: startFen, engine: "100% ♞: %3A é" },
    code: "unknown_engine",
    nextAction: "list_engines",
    pointers: ["/engine"],
  },
  {
    ...common,
    name: "an option whose name is cut in the middle of a character",
    request: { fen: startFen, options: { [`${"x".repeat(62)}😀xx`]: 1 } },
    code: "option_not_allowed",
    nextAction: "fix_request",
    pointers: [`/options/${"x".repeat(62)}\ufffd…`],
  },
  {
    ...common,
    name: "an engine without a name",
    request: { fen: startFen, engine: "" },
    code: "unknown_engine",
    nextAction: "list_engines",
    pointers: ["/engine"],
  },
  badPath("a path that the engine cannot run on", { engine: "stockfish-19-lite" }),
  badPath("a path that no engine runs on", {}),
  badOptions(
    "options that write files or belong to the operator",
    { "Debug Log File": "/tmp/x", hash: 1024, threads: 8 },
    "option_not_allowed",
    ["Debug Log File", "hash", "threads"],
  ),
  badOptions("uci_elo without uci_limit_strength", { uci_elo: 1500 }, "invalid_option", ["uci_elo"]),
  badOptions(
    "two options that limit the strength",
    { uci_limit_strength: true, uci_elo: 1500, skill_level: 3 },
    "invalid_option",
    ["uci_elo"],
  ),
  badOptions("skill_level 21", { skill_level: 21 }, "invalid_option", ["skill_level"], { skill_level: 20 }),
  badOptions("skill_level as text", { skill_level: "5" }, "invalid_option", ["skill_level"], {
    skill_level: 5,
  }),
  badOptions("a switch as a number", { uci_limit_strength: 1 }, "invalid_option", ["uci_limit_strength"]),
];
