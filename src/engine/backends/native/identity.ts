import type { Net } from "../../engine.ts";

/** What the name of an engine tells of its build. */
export interface NativeIdentity {
  readonly id: string;
  readonly family: string;
  readonly version: string;
  readonly net: Net;
  readonly license: string | undefined;
}

/**
 * From what the engine says of itself: `Stockfish 15.1` is `stockfish-15.1`. A development build
 * (`Stockfish dev-20260110-3a1b2c4d`) keeps its whole name, so that two of them never share an id.
 */
export function identityFromName(name: string): NativeIdentity | undefined {
  const words = name
    .toLowerCase()
    .split(/[^a-z0-9.-]+/)
    .filter(Boolean);
  const [family, version] = words;
  if (family === undefined || !/^[a-z0-9]/.test(family)) {
    return undefined;
  }
  const net = words.includes("lite") ? "lite" : "full";
  return {
    id: [family, version, net === "lite" ? "lite" : undefined].filter(Boolean).join("-"),
    family,
    version: version ?? "unknown",
    net,
    license: family === "stockfish" ? "GPL-3.0-or-later" : undefined,
  };
}
