import { randomUUID } from "node:crypto";
import { every, now } from "../../time/time.ts";
import {
  type EnterAnswer,
  type EnterRequest,
  type LimitStore,
  type LimitWindow,
  type OnPlace,
  type SearchPlace,
  StoreUnavailable,
  type WindowUse,
} from "../ports.ts";
import { createTurns } from "../turns.ts";
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

/**
 * If the node of a waiting request does not renew the request's entry for this time, the request no longer waits. A node renews
 * the entry with each poll.
 */
const turnMs = 1000;

/** The intervals between polls for a search that ends on another node: of the node's first waiting request, and of the others. */
const pollMs = { first: 25, other: 250 } as const;

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
  const turns = createTurns();
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
  const timer = every(heldMs / renewals, renewEntries).unref();
  // Renew at once, because Redis may have restarted and lost the entries.
  redis.changes.on("change", renewEntries);

  function placeOf(place: string, asked: EnterRequest, ends: readonly number[]): SearchPlace {
    const key = placesOf(asked);
    if (place !== "") {
      entries.set(place, key);
    }

    function leave(engineMs: number, givesBack: boolean): void {
      const engineTime = engineMs > 0 ? asked.engineTime : [];
      const nowMs = now();
      // Return requests only to the window that counted them, not to a later window.
      const back = givesBack ? asked.requests.filter((_, index) => nowMs < (ends[index] ?? 0)) : [];
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
      lastLeave = redis
        .run(leaveScript, keys, [JSON.stringify(args)])
        .catch(() => {
          // Ignore the failure: the connection has logged it, and the entry expires.
        })
        .then(() => turns.wakeFirst(asked.subject));
    }
    return { free: () => leave(0, false), leave };
  }

  /** `turn` is the request's entry among the waiting requests, as in {@link EnterArguments}. */
  async function attempt(
    asked: EnterRequest,
    turn: string | undefined,
    onPlace: OnPlace = () => {},
  ): Promise<Attempt> {
    if (redis.health.kind !== "up") {
      throw new StoreUnavailable(`Redis counts nothing: ${redis.health.why}`);
    }
    const { subject: _, ...rest } = asked;
    // The numbers have the same length, because requests of the same millisecond are in the alphabetical order of their names.
    const name = `${node}.${String(++entered).padStart(16, "0")}`;
    const args: EnterArguments = { ...rest, latestMs: redis.deadline(), turn, turnMs, name, heldMs };
    const windows = [...asked.engineTime, ...asked.requests];
    const keys = [placesOf(asked), turnsOf(asked), ...windows.map(windowOf)];
    const askedAt = now();
    const [kind, first, second, third] = listOf(await redis.run(enterScript, keys, [JSON.stringify(args)]));
    switch (kind) {
      case "late":
        throw new StoreUnavailable("Redis carried out a request too late");
      case "busy": {
        const running = textsOf(second).map((place) => runningFrom(place, Number(first)));
        return { answer: { kind, running }, turn: String(third) };
      }
      case "exhausted":
      case "full":
        return { answer: { kind, ...usesOf(asked, first, second) } };
      default: {
        const uses = usesOf(asked, first, second);
        const ends = uses.requests.map(({ endsInMs }) => askedAt + endsInMs);
        const place = placeOf(String(third), asked, ends);
        onPlace(place);
        return { answer: { kind: "entered", place, ...uses } };
      }
    }
  }

  async function enterInTurn(
    asked: EnterRequest,
    signal: AbortSignal,
    onPlace: OnPlace | undefined,
  ): Promise<EnterAnswer> {
    using own = turns.take(asked.subject);
    let turn = "";
    try {
      for (;;) {
        const tried = await attempt(asked, turn, onPlace);
        if (tried.turn === undefined) {
          return tried.answer;
        }
        turn = tried.turn;
        await own.woken(signal, own.ahead === 0 ? pollMs.first : pollMs.other);
      }
    } catch (error) {
      // Let the next request pass at once. If this fails, the entry expires.
      void redis.boundedCall("ZREM", [turnsOf(asked)], [turn]);
      throw error;
    }
  }

  return {
    get available() {
      return redis.health.kind === "up";
    },
    async enter(asked, waiting, onPlace) {
      return waiting
        ? enterInTurn(asked, waiting, onPlace)
        : (await attempt(asked, undefined, onPlace)).answer;
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
      timer.cancel();
      redis.changes.off("change", renewEntries);
      await lastLeave;
    },
  };
}

/** `turn` is defined if the answer is `busy`. */
interface Attempt {
  readonly answer: EnterAnswer;
  readonly turn?: string;
}

const turnsOf = ({ subject }: EnterRequest) => `turns:${subject}`;
const placesOf = ({ subject }: EnterRequest) => `places:${subject}`;
const windowOf = ({ rate, subject }: LimitWindow) => `window:${rate} ${subject}`;

function usesOf({ engineTime, requests }: EnterRequest, timeReply: unknown, requestReply: unknown) {
  return { engineTime: usesFrom(timeReply, engineTime), requests: usesFrom(requestReply, requests) };
}

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
