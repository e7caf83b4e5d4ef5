import type { Log } from "../../../log/log.ts";
import { type EngineBuild, EngineFailure } from "../../engine.ts";
import type { FileIntegrity } from "../../file-integrity.ts";
import { identityFromName, profileOf } from "../../profiles.ts";
import { selfTest } from "../../self-test.ts";
import { isWeakened } from "../../weakened.ts";
import type { UciStart } from "./start-native.ts";

type Found = Omit<EngineBuild, "unavailableReason">;

/** Starts the engine, and tests the engine. Throws if the engine is not usable. */
export async function identify(
  start: UciStart,
  launch: Pick<EngineBuild, "file" | "settings" | "launch">,
  integrity: FileIntegrity,
  log: Log,
  signal: AbortSignal,
): Promise<Found> {
  await using session = await start(launch, signal);
  const identity = identityFromName(session.info.name);
  if (identity === undefined) {
    throw new Error("it reports no name");
  }
  const { threads } = launch.settings;
  const profile = profileOf(identity.family);
  const nodes = await selfTest(session, profile, threads, signal);
  // An engine below its full strength chooses moves at random, even if two searches were equal.
  const weakened = isWeakened(session.info.options);
  const selfTestNodes = weakened ? undefined : nodes;
  // Throw if a file was replaced after its digest was computed.
  await integrity.assertUnchanged();
  const reproducible = selfTestNodes !== undefined;
  if (!reproducible && profile.isReproducible && threads === 1 && !weakened) {
    const { id: engine } = identity;
    log.warn(
      { engine, path: "native" },
      "equal searches of this engine differ: its answers are not deterministic",
    );
  }
  const { defaultLimit } = profile;
  // Native builds are never deprecated, because the operator decides how long a native build stays on this machine.
  const deprecatedSince = undefined;
  const found = { ...session.info, ...identity, ...launch, ...integrity };
  return { ...found, path: "native", reproducible, selfTestNodes, defaultLimit, deprecatedSince };
}

/** Returns a build that is listed and never started. */
export function leftOutBuild(
  id: string,
  reason: string,
  launch: Pick<EngineBuild, "file" | "settings" | "launch">,
): EngineBuild {
  const { family, defaultLimit, license } = profileOf("unknown");
  const refuse = async () => {
    throw new EngineFailure("no_start", reason);
  };
  return {
    ...{ id, name: id, author: "", path: "native", family, version: "unknown", net: "full", license },
    ...{
      deprecatedSince: undefined,
      options: [],
      linesMax: 1,
      reproducible: false,
      selfTestNodes: undefined,
    },
    ...{ defaultLimit, ...launch, sha256: "", unavailableReason: reason },
    ...{ assertUnchanged: refuse, assertGenuine: refuse },
  };
}
