import type { EngineBuild, EngineLaunch, EngineOption } from "../../src/engine/engine.ts";
import { profileOf } from "../../src/engine/profiles.ts";

export const options: readonly EngineOption[] = [
  { name: "skill_level", engineName: "Skill Level", kind: "integer", default: 20, minimum: 0, maximum: 20 },
  { name: "uci_limit_strength", engineName: "UCI_LimitStrength", kind: "boolean", default: false },
  { name: "uci_elo", engineName: "UCI_Elo", kind: "integer", default: 1320, minimum: 1320, maximum: 3190 },
  { name: "uci_chess960", engineName: "UCI_Chess960", kind: "boolean", default: false },
];

export function launchOf(properties: Partial<EngineLaunch> = {}): EngineLaunch {
  return {
    ...{ args: [], env: {}, options: new Map(), instances: undefined, memoryMb: undefined },
    ...{ startMs: undefined, digest: "" },
    ...properties,
  };
}

export function buildOf(properties: Partial<EngineBuild> = {}): EngineBuild {
  const settings = properties.settings ?? { hashMb: 16, threads: 1 };
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
    author: "nobody",
    options,
    linesMax: 256,
    settings,
    defaultLimit: profileOf(properties.family ?? "stockfish").defaultLimit,
    launch: undefined,
    unavailableReason: undefined,
    file: "/nowhere/stockfish",
    sha256: "0".repeat(64),
    assertUnchanged: async () => {},
    assertGenuine: async () => {},
    ...properties,
  };
}
