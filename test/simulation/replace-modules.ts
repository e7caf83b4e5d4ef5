import { registerHooks } from "node:module";
import { running } from "./current.ts";

/** Import this file before any module of `src/`: then these modules get a virtual clock and chance from a seed. */

const sources = new URL("../../src/", import.meta.url).href;

const replaced: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "time/time.ts": "time.ts",
    "node:crypto": "crypto.ts",
    "node:fs": "fs.ts",
    "node:sqlite": "sqlite.ts",
    "game/openings.ts": "openings.ts",
    "storage/memory/limit-store.ts": "memory-limit-store.ts",
  }).map(([module, standIn]) => [
    module.startsWith("node:") ? module : new URL(module, sources).href,
    new URL(`stand-ins/${standIn}`, import.meta.url).href,
  ]),
);
const redisClient = new URL("redis-client.ts", import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const found = specifier === "@redis/client" ? redisClient : replaced.get(resolved.url);
    const standIn = context.parentURL?.startsWith(sources) ? found : undefined;
    return standIn === undefined
      ? resolved
      : { url: standIn, format: "module-typescript", shortCircuit: true };
  },
});

// Libraries read these clocks, for example for the age of cached values.
const real = { wall: Date.now, now: performance.now.bind(performance), random: Math.random };
Date.now = () => running()?.clock.time.wall() ?? real.wall();
performance.now = () => running()?.clock.time.now() ?? real.now();
Math.random = () => running()?.random().next() ?? real.random();

const compose = AbortSignal.any.bind(AbortSignal);
AbortSignal.any = (signals) => {
  const composite = compose(signals);
  const { composites, clock } = running() ?? {};
  const name = clock?.current()?.name;
  if (composites && name !== undefined) {
    const known = composites.get(name) ?? [];
    known.push(composite);
    composites.set(name, known);
  }
  return composite;
};
