import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AdmissionAnswer,
  type AdmissionRequest,
  type LimitStore,
  type LimitWindow,
  type QuotaWindow,
  StoreUnavailable,
  type TakenPlace,
  type WindowUse,
} from "../ports.ts";
import type { RedisClock } from "./clock.ts";
import type { Redis } from "./connection.ts";
import { enterScript, holdScript, settleScript, usesScript } from "./limit-scripts.ts";
import { createOutbox } from "./outbox.ts";
import { listOf, textsOf } from "./replies.ts";

/** How long a place is held for a node that says nothing more, in milliseconds. */
const defaultHeldMs = 8000;

/** How often within that time a node says that it lives. */
const saidIn = 4;

/** A caller that waits for a place asks again after so many milliseconds. */
const pollMs = 100;

const scripts = [enterScript, holdScript, settleScript, usesScript];

/** Places that one script is asked to hold. */
const heldAtOnce = 250;

export interface LimitStoreOptions {
  readonly heldMs?: number;
  /** Told at the end how much could not be told Redis, if that is anything. */
  readonly onForgotten?: (entries: number) => void;
}

interface RedisLimitStore extends LimitStore, AsyncDisposable {}

/** Counts in Redis. Disposing of it gives all places back, and stops saying that this node lives. */
export function createRedisLimitStore(
  redis: Redis,
  clock: RedisClock,
  { heldMs = defaultHeldMs, onForgotten = () => {} }: LimitStoreOptions = {},
): RedisLimitStore {
  const node = `outbox:${randomUUID()}`;
  const outbox = createOutbox(redis, node);
  /** The keys of the places that this node holds, by their names. */
  const held = new Map<string, string>();
  let count = 0;

  /** Soon enough that this node still knows what to take back. */
  const deadline = () => clock.deadline(heldMs / 2);

  /** Begins with what no other place begins with. */
  const nextName = () => `${node}.${++count}:`;

  function free(name: string): void {
    const key = held.get(name);
    if (key !== undefined && held.delete(name)) {
      void outbox.put({ key, work: "free", words: [name], validMs: heldMs });
    }
  }

  async function holdAll(): Promise<void> {
    if (redis.health.kind !== "up") {
      return;
    }
    const all = [...held];
    for (let at = 0; at < all.length; at += heldAtOnce) {
      const some = all.slice(at, at + heldAtOnce).filter(([name]) => held.has(name));
      const keys = [node, ...some.map(([, key]) => key)];
      await redis.run(holdScript, keys, [
        ...[outbox.sequence, heldMs, deadline()],
        ...some.map(([name]) => name),
      ]);
    }
  }

  /** What fails is said again. */
  const sayHeld = () => void holdAll().catch(() => {});

  /** Scripts that Redis does not have are sent again, and others overtake them: that is to be rare. */
  function prepare(): void {
    for (const { source } of redis.health.kind === "up" ? scripts : []) {
      redis.ask("SCRIPT", [], ["LOAD", source]).catch(() => {});
    }
    sayHeld();
  }

  prepare();
  const timer = setInterval(sayHeld, heldMs / saidIn).unref();
  redis.changes.on("change", prepare);

  function placeOf(name: string, asked: AdmissionRequest, ends: readonly number[]) {
    const { requests, count: taken } = asked;
    held.set(name, placesFor(asked));
    const place: TakenPlace = {
      giveBack() {
        for (const [index, window] of requests.entries()) {
          const validMs = (ends[index] ?? 0) - performance.now();
          void outbox.put({ key: windowOf(window), work: "back", words: [taken], validMs });
        }
      },
      [Symbol.dispose]: () => free(name),
    };
    return place;
  }

  /** Takes back what a script may have given that was not heard of. */
  function undo(name: string, asked: AdmissionRequest): void {
    const { requests, count: taken } = asked;
    const validMs = Math.max(heldMs, ...requests.map(({ windowMs }) => windowMs));
    void outbox.put({ key: placesFor(asked), work: "undo", words: [name], validMs });
    for (const window of requests) {
      const validMs = window.windowMs;
      void outbox.put({ key: windowOf(window), work: "undone", words: [taken], validMs });
    }
  }

  async function tryToEnter(asked: AdmissionRequest): Promise<AdmissionAnswer | undefined> {
    const { concurrent, expectedMs, engineTime, requests, count: taken } = asked;
    const name = nextName();
    const keys = [node, placesFor(asked), ...engineTime.map(usageOf), ...requests.map(windowOf)];
    const args = [
      ...[outbox.sequence, concurrent ?? "", name, Math.round(expectedMs), heldMs, taken],
      ...[engineTime.length, deadline(), ...engineTime.map(({ quota }) => quota)],
      ...requests.flatMap(({ quota, windowMs }) => [quota, windowMs]),
    ];
    const askedAt = performance.now();
    const answer = await redis.run(enterScript, keys, args).catch((error) => {
      undo(name, asked);
      throw error;
    });
    const [kind, first, second] = listOf(answer);
    switch (kind) {
      case "admitted": {
        const uses = usesFrom(second, requests);
        const ends = uses.map(({ endsInMs }) => askedAt + endsInMs);
        return { kind, place: placeOf(String(first), asked, ends), requests: uses };
      }
      case "busy":
        return { kind, running: textsOf(second).map((place) => runningFrom(place, Number(first))) };
      case "exhausted":
        return { kind, engineTime: usesFrom(first, engineTime) };
      case "full":
        return { kind, requests: usesFrom(first, requests) };
      default:
        return undefined;
    }
  }

  return {
    get available() {
      return redis.health.kind === "up";
    },
    async enter(asked) {
      if (redis.health.kind !== "up") {
        throw new StoreUnavailable(`Redis counts nothing: ${redis.health.why}`);
      }
      const answer = await tryToEnter(asked);
      if (answer !== undefined) {
        return answer;
      }
      // The script was not there, and what came after it was carried out before. Or the clock was set anew.
      await clock.look();
      const again = await tryToEnter(asked);
      if (again === undefined) {
        throw new StoreUnavailable("Redis is asked for what was given up already");
      }
      return again;
    },
    async placeFree(_subject, _max, signal) {
      // Another node that frees a place sends no message.
      await sleep(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    },
    async addRefusals(window, refusals) {
      const words = [refusals, window.windowMs];
      const answer = await outbox.put({
        key: windowOf(window),
        work: "add",
        words,
        validMs: window.windowMs,
      });
      return Array.isArray(answer) ? usesFrom([answer], [window])[0] : undefined;
    },
    addEngineTime(window, engineMs) {
      const words = [Math.round(engineMs), window.windowMs];
      void outbox.put({ key: usageOf(window), work: "add", words, validMs: window.windowMs });
    },
    async usesOf(windows) {
      const keys = windows.map((window) =>
        window.unit === "engine_ms" ? usageOf(window) : windowOf(window),
      );
      return windows.length === 0 ? [] : usesFrom(await redis.run(usesScript, keys), windows);
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      redis.changes.off("change", prepare);
      for (const name of held.keys()) {
        free(name);
      }
      const forgotten = await outbox.close();
      if (forgotten > 0) {
        onForgotten(forgotten);
      }
    },
  };
}

/** What is no search takes none of their places, and is known all the same, until it ends: it may have to be undone. */
const placesFor = ({ subject, concurrent }: AdmissionRequest) =>
  concurrent === undefined ? `entries:${subject}` : `places:${subject}`;
const windowOf = ({ rate, subject }: LimitWindow) => `window:${rate} ${subject}`;
const usageOf = ({ rate, subject }: LimitWindow) => `usage:${rate} ${subject}`;

function usesFrom(reply: unknown, windows: readonly (LimitWindow | QuotaWindow)[]): readonly WindowUse[] {
  const uses = listOf(reply).map((use) => listOf(use).map(Number));
  return windows.map(({ windowMs }, index) => {
    const [used = 0, left = -1] = uses[index] ?? [];
    return left > 0 ? { used, endsInMs: Math.min(left, windowMs) } : { used: 0, endsInMs: windowMs };
  });
}

/** The name of a place ends with the time when it was taken, and how long its search is expected to take. */
function runningFrom(place: string, now: number) {
  const [startedAt, expectedMs] = place.split(":").slice(-2).map(Number);
  return { expectedMs: expectedMs ?? 0, elapsedMs: Math.max(0, now - (startedAt ?? now)) };
}
