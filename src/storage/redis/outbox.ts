import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "./connection.ts";
import { settleScript } from "./limit-scripts.ts";
import { listOf } from "./replies.ts";

/** Something to be done in Redis that nobody waits for. The works are those of `settleScript`. */
interface OutboxEntry {
  readonly key: string;
  readonly work: "free" | "undo" | "undone" | "back" | "add";
  /** At most two. */
  readonly words: readonly (string | number)[];
  /** For how long it is worth doing, in milliseconds: a window that has ended has nothing to get back. */
  readonly validMs: number;
}

/**
 * What a node still has to tell Redis. Whatever was sent and not acknowledged is sent again, with all that came after it;
 * each entry has a number, and Redis knows which one it was told last. So each counts once, in its order, also when
 * answers are lost, and when what was sent over a connection that was given up arrives at last.
 */
export interface Outbox {
  /** The number of the last entry. */
  readonly sequence: number;
  /** Resolves when it was sent for the first time: with what Redis has answered, or undefined where it has not. */
  put(entry: OutboxEntry): Promise<unknown>;
  /** Sends what there still is, for as long as {@link OutboxOptions.closingMaxMs}. Resolves with how much is forgotten. */
  close(): Promise<number>;
}

interface OutboxOptions {
  /** How long Redis is waited for at the end, in milliseconds: one that was lost a moment ago comes back within that. */
  readonly closingMaxMs?: number;
}

interface Unsent extends OutboxEntry {
  readonly sequence: number;
  readonly validUntil: number;
  readonly tried: (answer: unknown) => void;
}

/** Entries of one script at most. */
const togetherMax = 200;

/** Entries that are sent again with each new one before the answer is there: beyond that, they wait for it. */
const repeatedMax = 50;

/** As {@link OutboxOptions.closingMaxMs}. */
const defaultClosingMaxMs = 2000;

/** Between two looks whether Redis is there, while that is waited for. */
const lookMs = 20;

/** How long Redis remembers a node that tells it nothing, in milliseconds. */
const nodeKeptMs = 3_600_000;

/** Until what failed is sent again, in milliseconds, if nothing else sends it. */
const againMs = 500;

/** @param node the key of the node: of this process alone. */
export function createOutbox(
  redis: Redis,
  node: string,
  { closingMaxMs = defaultClosingMaxMs }: OutboxOptions = {},
): Outbox {
  let entries: Unsent[] = [];
  let sequence = 0;
  let isPlanned = false;
  let underWay = 0;
  let again: NodeJS.Timeout | undefined;
  let closed = false;

  async function send(): Promise<void> {
    isPlanned = false;
    drop(({ validUntil }) => validUntil <= performance.now());
    if (underWay > 0 && entries.length > repeatedMax) {
      return;
    }
    const sent = entries.slice(0, togetherMax);
    const newest = sent.at(-1);
    if (newest === undefined || closed) {
      return;
    }
    const keys = [node, ...sent.map(({ key }) => key)];
    const args = sent.flatMap(({ sequence: number, work, words }) => {
      const [first = "", second = ""] = words;
      return [number, work, first, second];
    });
    underWay++;
    try {
      const answers = listOf(await redis.run(settleScript, keys, [nodeKeptMs, ...args]));
      // What is before the newest one was carried out now or before: so Redis has them all.
      entries = entries.filter(({ sequence: number }) => number > newest.sequence);
      for (const [index, { tried }] of sent.entries()) {
        tried(answers[index]);
      }
    } catch {
      // The connection's own log says why.
      for (const { tried } of sent) {
        tried(undefined);
      }
      clearTimeout(again);
      again = setTimeout(plan, againMs).unref();
      return;
    } finally {
      underWay--;
    }
    if (underWay === 0 && entries.length > 0) {
      plan();
    }
  }

  function drop(which: (entry: Unsent) => boolean): void {
    for (const { tried } of entries.filter(which)) {
      tried(undefined);
    }
    entries = entries.filter((entry) => !which(entry));
  }

  function plan(): void {
    if (!isPlanned) {
      isPlanned = true;
      queueMicrotask(() => void send());
    }
  }

  redis.changes.on("change", plan);
  return {
    get sequence() {
      return sequence;
    },
    put(entry) {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      const validUntil = performance.now() + entry.validMs;
      entries.push({ ...entry, sequence: ++sequence, validUntil, tried: resolve });
      plan();
      return promise;
    },
    async close() {
      redis.changes.off("change", plan);
      const end = performance.now() + closingMaxMs;
      while (entries.length > 0 && performance.now() < end) {
        const before = entries.length;
        await send();
        if (entries.length === before) {
          await sleep(lookMs);
        }
      }
      closed = true;
      clearTimeout(again);
      const forgotten = entries.length;
      drop(() => true);
      return forgotten;
    },
  };
}
