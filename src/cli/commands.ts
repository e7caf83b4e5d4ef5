import type { Command } from "./command.ts";

/** Imports the module of a command only when the command runs, so that `serve` can start an engine early. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import("./serve.ts")).serveCommand,
  eval: async () => (await import("./analyse.ts")).evalCommand,
  bestmove: async () => (await import("./analyse.ts")).bestmoveCommand,
  review: async () => (await import("./review.ts")).reviewCommand,
  uci: async () => (await import("./uci.ts")).uciCommand,
  mcp: async () => (await import("./mcp.ts")).mcpCommand,
  engines: async () => (await import("./engines.ts")).enginesCommand,
  doctor: async () => (await import("./doctor.ts")).doctorCommand,
  nodes: async () => (await import("./nodes.ts")).nodesCommand,
  backup: async () => (await import("./backup.ts")).backupCommand,
  restore: async () => (await import("./backup.ts")).restoreCommand,
  keys: async () => (await import("./keys.ts")).keysCommand,
};

export function allCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(commands).map((read) => read()));
}
