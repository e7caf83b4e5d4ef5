import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AdmissionRequest,
  type AdmittedSearch,
  type LimitStore,
  type LimitWindow,
  StoreUnavailable,
  type WindowUse,
} from "../ports.ts";
import type { Redis } from "./connection.ts";
import {
  addScript,
  type EnterArguments,
  enterScript,
  holdScript,
  type LeaveArguments,
  leaveScript,
  usesScript,
} from "./limit-scripts.ts";
import { listOf, textsOf } from "./replies.ts";

/** If a node does not renew the entry of a search for this time, the search no longer counts as in flight. */
const defaultHeldMs = 8000;

/** The interval between renewals of an entry is `heldMs` divided by this number. */
const renewals = 4;

const pollMs = 100;

const heldAtOnce = 250;

export interface LimitStoreOptions {
  readonly heldMs?: number;
}

interface RedisLimitStore extends LimitStore, AsyncDisposable {}

/** Never sends a command twice. So if the connection breaks, a refused request may be counted, or used engine time may not be counted. */
export function createRedisLimitStore(
  redis: Redis,
  { heldMs = defaultHeldMs }: LimitStoreOptions = {},
): RedisLimitStore {
  const node = randomUUID();
  let entered = 0;
  /** Maps the name of an entry of this node to the Redis key of its sorted set. */
  const entries = new Map<string, string>();
  let lastLeave: Promise<unknown> = Promise.resolve();

  /** Ignores failures, because this function runs again soon. */
  function renewEntries(): void {
    const all = redis.health.kind === "up" ? [...entries] : [];
    for (let at = 0; at < all.length; at += heldAtOnce) {
      const some = all.slice(at, at + heldAtOnce);
      const keys = some.map(([, key]) => key);
      redis.run(holdScript, keys, [heldMs, ...some.map(([place]) => place)]).catch(() => {});
    }
  }
  const timer = setInterval(renewEntries, heldMs / renewals).unref();
  // Renew at once, because Redis may have restarted and lost the entries.
  redis.changes.on("change", renewEntries);

  function placeOf(place: string, asked: AdmissionRequest, ends: readonly number[]): AdmittedSearch {
    const key = placesOf(asked);
    if (place !== "") {
      entries.set(place, key);
    }

    function leave(engineMs: number, givesBack: boolean): void {
      const engineTime = engineMs > 0 ? asked.engineTime : [];
      const now = performance.now();
      // Return requests only to the window that counted them, not to a later window.
      const back = givesBack ? asked.requests.filter((_, index) => now < (ends[index] ?? 0)) : [];
      const isFreed = entries.delete(place);
      if (!isFreed && engineTime.length === 0 && back.length === 0) {
        return;
      }
      const args: LeaveArguments = {
        place,
        engineMs: Math.round(engineMs),
        engineTime: engineTime.map(({ windowMs }) => windowMs),
        count: asked.count,
      };
      const keys = [key, ...engineTime.map(windowOf), ...back.map(windowOf)];
      lastLeave = redis.run(leaveScript, keys, [JSON.stringify(args)]).catch(() => {
        // Ignore the failure: the connection has logged it, and the entry expires.
      });
    }
    return { free: () => leave(0, false), leave };
  }

  return {
    get available() {
      return redis.health.kind === "up";
    },
    async enter(asked) {
      if (redis.health.kind !== "up") {
        throw new StoreUnavailable(`Redis counts nothing: ${redis.health.why}`);
      }
      const { concurrent, expectedMs, engineTime, requests, count } = asked;
      const name = `${node}.${++entered}`;
      const args: EnterArguments = {
        latestMs: redis.deadline(),
        concurrent,
        name,
        expectedMs,
        heldMs,
        engineTime,
        requests,
        count,
      };
      const keys = [placesOf(asked), ...engineTime.map(windowOf), ...requests.map(windowOf)];
      const askedAt = performance.now();
      const [kind, first, second] = listOf(await redis.run(enterScript, keys, [JSON.stringify(args)]));
      switch (kind) {
        case "late":
          throw new StoreUnavailable("Redis carried out a request too late");
        case "busy":
          return { kind, running: textsOf(second).map((place) => runningFrom(place, Number(first))) };
        case "exhausted":
          return { kind, engineTime: usesFrom(first, engineTime) };
        case "full":
          return { kind, requests: usesFrom(first, requests) };
        default: {
          const uses = usesFrom(second, requests);
          const ends = uses.map(({ endsInMs }) => askedAt + endsInMs);
          return { kind: "admitted", place: placeOf(String(first), asked, ends), requests: uses };
        }
      }
    },
    async placeFree(_subject, _max, signal) {
      // Poll, because a node does not notify other nodes when a search ends.
      await sleep(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    },
    async addRefusals(window, count) {
      const use = await redis.run(addScript, [windowOf(window)], [count, window.windowMs]);
      return useFrom(use, window);
    },
    async usesOf(windows) {
      return windows.length === 0
        ? []
        : usesFrom(
            await redis.run(
              usesScript,
              windows.map(windowOf),
              windows.map(({ windowMs }) => windowMs),
            ),
            windows,
          );
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      redis.changes.off("change", renewEntries);
      await lastLeave;
    },
  };
}

const placesOf = ({ subject }: AdmissionRequest) => `places:${subject}`;
const windowOf = ({ rate, subject }: LimitWindow) => `window:${rate} ${subject}`;

function usesFrom(reply: unknown, windows: readonly LimitWindow[]): readonly WindowUse[] {
  const uses = listOf(reply);
  return windows.map((window, index) => useFrom(uses[index], window));
}

function useFrom(reply: unknown, { windowMs }: LimitWindow): WindowUse {
  const [used = 0, left = -1] = listOf(reply).map(Number);
  return left > 0 ? { used, endsInMs: Math.min(left, windowMs) } : { used: 0, endsInMs: windowMs };
}

function runningFrom(place: string, now: number) {
  const [startedAt, expectedMs] = place.split(":").slice(-2).map(Number);
  return { expectedMs: expectedMs ?? 0, elapsedMs: Math.max(0, now - (startedAt ?? now)) };
}
