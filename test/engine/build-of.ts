import type { EngineBuild } from "../../src/engine/engine.ts";
import { hashStepsUpTo } from "../../src/engine/hash-steps.ts";

/** A build of which a test says only what matters to it. */
export function buildOf(told: Partial<EngineBuild> = {}): EngineBuild {
  const settings = told.settings ?? { hashMb: 16, threads: 1 };
  return {
    id: "stockfish-19",
    name: "Stockfish 19",
    path: "wasm",
    family: "stockfish",
    version: "19",
    net: "full",
    license: "GPL-3.0-or-later",
    deprecatedSince: undefined,
    reproducible: settings.threads === 1,
    selfTestNodes: undefined,
    info: undefined,
    settings,
    hashSteps: hashStepsUpTo(16),
    file: "/nowhere/stockfish",
    sha256: async () => "0".repeat(64),
    assertUnchanged: () => undefined,
    assertGenuine: async () => {},
    ...told,
  };
}
