import type { EngineBuild } from "../engine/engine.ts";
import { cacheKeyOf, type JudgedRequest } from "./analysis.ts";

/** What the answer of a search is kept by; undefined where it is not kept. */
export type Key = string | undefined;

/**
 * Names searches by `cacheKeyOf`: at once where the file of their engine was read before, which the engine's start does.
 * Undefined also where that cannot be read: the start fails by the same, and says so.
 */
export function createSearchKeys(): (request: JudgedRequest) => Key | Promise<Key> {
  const digests = new WeakMap<EngineBuild, string>();
  /** Of frozen requests: they come again. */
  const known = new WeakMap<JudgedRequest, Key>();

  async function readDigest({ build }: JudgedRequest): Promise<string | undefined> {
    const digest = await build.sha256().catch(() => undefined);
    if (digest !== undefined) {
      digests.set(build, digest);
    }
    return digest;
  }

  return (request) => {
    const before = known.get(request);
    if (before !== undefined) {
      return before;
    }
    const digest = digests.get(request.build);
    if (digest === undefined) {
      return readDigest(request).then((read) => (read === undefined ? undefined : cacheKeyOf(request, read)));
    }
    const key = cacheKeyOf(request, digest);
    if (Object.isFrozen(request)) {
      known.set(request, key);
    }
    return key;
  };
}
