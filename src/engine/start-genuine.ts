import type { EngineBackend, EngineBuild, EngineSession } from "./engine.ts";

/**
 * Starts an engine whose files are those that were found. They are compared before it is run, and again before it is
 * lent: what was replaced in between may have run, in its cage, but never answers anybody.
 */
export async function startGenuine(
  backend: EngineBackend,
  build: EngineBuild,
  signal: AbortSignal,
): Promise<EngineSession> {
  const before = build.assertUnchanged();
  // Mostly there is nothing to wait for, and an engine is started in this very turn.
  if (before) {
    await before;
  }
  // Read while the engine loads, which takes longer.
  const genuine = build.assertGenuine();
  genuine.catch(() => {});
  const session = await backend.start(build, signal);
  try {
    await genuine;
    // It may have been replaced just before it was run.
    await build.assertUnchanged();
    return session;
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}
