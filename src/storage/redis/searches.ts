import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { JoinSearch, SharedSearches } from "../ports.ts";
import type { ValueFormat } from "../value-format.ts";
import { type BriefRedis, createBriefRedis } from "./brief.ts";
import { nameOf } from "./cache.ts";
import { type Redis, redisScript } from "./connection.ts";

/** In milliseconds. */
const sharingTimes = {
  /** After so long without a sign of life another node may take a search on. */
  leaseMs: 1200,
  /** Between two signs of life of who leads, and two questions of who follows. */
  beatMs: 400,
} as const;

/** Before a search is asked for again that could be followed for less than a beat, in milliseconds. */
const restMs = 20;

/** As {@link sharingTimes}; tests make them short. */
export type SharingTimes = { readonly [Time in keyof typeof sharingTimes]: number };

interface RedisSearchesOptions<T> {
  /** Of this node. */
  readonly id: string;
  /** Of states, and of last words. */
  readonly format: ValueFormat<T>;
  readonly times?: Partial<SharingTimes>;
  readonly brief?: BriefRedis;
}

/** Who leads says so again, and takes it back where it was forgotten. */
const renew = redisScript(
  "renew_lease",
  `
local holder = redis.call('GET', KEYS[1])
if not holder or holder == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end`,
);

/** Who follows has heard the last word before, or there is none. */
const release = redisScript(
  "release_lease",
  `
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
  redis.call('PUBLISH', ARGV[2], '{"kind":"over"}')
end`,
);

/** Tells the node that leads that it is followed, and answers with its id. One that nobody hears for is gone, or cut off. */
const ask = redisScript(
  "follow",
  `
local holder = redis.call('GET', KEYS[1])
if not holder then
  return false
end
local node = string.match(holder, '^[^ ]+')
if node == ARGV[3] or redis.call('PUBLISH', ARGV[1] .. node, ARGV[2]) == 0 then
  redis.call('DEL', KEYS[1])
  return false
end
return node`,
);

/** What a node that follows tells the one that leads. */
interface Wish {
  readonly search: string;
  readonly from: string;
  readonly wants: "states" | "nothing";
}

/** What the node that leads tells all who follow. */
type Said = { readonly kind: "state" | "last"; readonly value: unknown } | { readonly kind: "over" };

/**
 * Searches under way, by leases that end by themselves. A search that nobody else asks for costs two commands; what it finds on the way
 * is told to others only as long as some follow, who are readers of it like those of its own node.
 */
export function createRedisSearches<T>(
  redis: Redis,
  { id, format, times, brief = createBriefRedis(redis) }: RedisSearchesOptions<T>,
): SharedSearches<T> {
  const { leaseMs, beatMs } = { ...sharingTimes, ...times };
  const leases = new Map<string, Lease>();
  let join: JoinSearch<T> = () => undefined;

  const leaseOf = (search: string) => `search:${search}`;
  const inboxOf = (node: string) => `node:${node}`;
  const attempt = (work: Promise<unknown>) =>
    work.catch(() => {
      // Who follows asks again, and a lease that is not released ends by itself.
    });

  redis.listen(inboxOf(id), (text) => {
    const { search, from, wants } = wishFrom(text);
    const lease = leases.get(search);
    if (lease) {
      lease.hear(from, wants);
    } else if (wants !== "nothing") {
      void say(search, { kind: "over" });
    }
  });

  const say = (search: string, said: Said) => attempt(redis.tell(leaseOf(search), JSON.stringify(said)));

  const giveBack = (search: string, token: string) =>
    attempt(redis.run(release, [leaseOf(search)], [token, redis.channelOf(leaseOf(search))]));

  /** A search that this node leads. */
  function createLease(name: string, search: string, token: string): Lease {
    /** Until when each node counts as one that follows, if it says nothing more. */
    const followers = new Map<string, number>();
    let telling: AbortController | undefined;
    let told: Promise<void> = Promise.resolve();

    function begin(): void {
      const stop = new AbortController();
      const states = join(name, stop.signal);
      telling = stop;
      told = states ? tell(states, stop.signal) : say(search, { kind: "over" }).then(() => {});
    }

    async function tell(states: AsyncIterable<{ value: T; isLast: boolean }>, stop: AbortSignal) {
      let ended = false;
      try {
        for await (const { value, isLast } of states) {
          ended = isLast;
          await say(search, { kind: isLast ? "last" : "state", value });
        }
      } catch {
        // Who follows is told that there is nothing to come, and searches.
      }
      if (!ended && !stop.aborted) {
        await say(search, { kind: "over" });
      }
    }

    function leaveIfAlone(): void {
      const now = performance.now();
      for (const [from, until] of followers) {
        if (until < now) {
          followers.delete(from);
        }
      }
      if (followers.size === 0) {
        telling?.abort(new Error("no node follows any more"));
        telling = undefined;
      }
    }

    const beat = setInterval(() => {
      leaveIfAlone();
      void attempt(redis.run(renew, [leaseOf(search)], [token, leaseMs]));
    }, beatMs);
    const lease: Lease = {
      hear(from, wants) {
        if (wants === "nothing") {
          followers.delete(from);
          leaveIfAlone();
          return;
        }
        followers.set(from, performance.now() + leaseMs);
        if (telling === undefined) {
          begin();
        }
      },
      async end() {
        clearInterval(beat);
        // First the last word, then the lease: who asks in between would search.
        await told;
        // Its search may have been left by all, and asked for again before the engine had stopped.
        if (leases.get(search) === lease) {
          leases.delete(search);
        }
        await giveBack(search, token);
      },
    };
    return lease;
  }

  return {
    async claim(name) {
      const search = nameOf(name, format);
      const token = `${id} ${randomUUID()}`;
      let wasAsked = false;
      const said = await brief.ask((maxMs) => {
        wasAsked = true;
        return redis.ask("SET", [leaseOf(search)], [token, "NX", "PX", leaseMs], maxMs);
      });
      if (said === null) {
        return undefined;
      }
      if (said !== "OK") {
        if (wasAsked) {
          // It may be carried out all the same, and others would follow what nobody leads.
          void giveBack(search, token);
        }
        return alone;
      }
      const lease = createLease(name, search, token);
      leases.set(search, lease);
      return { [Symbol.dispose]: () => void lease.end() };
    },
    async isLed(name) {
      const key = leaseOf(nameOf(name, format));
      return (await brief.ask((maxMs) => redis.ask("EXISTS", [key], [], maxMs))) === 1;
    },
    async follow(name, hear, signal) {
      const search = nameOf(name, format);
      const { promise, resolve } = Promise.withResolvers<T | undefined>();
      const giveUp = () => resolve(undefined);
      const begunAt = performance.now();
      const lookAround = () => redis.health.kind === "down" && giveUp();
      let leader: string | undefined;

      const ears = redis.listen(leaseOf(search), (text) => {
        const said = saidFrom(text, format);
        if (said?.kind === "state") {
          hear(said.value);
        } else if (said) {
          resolve(said.kind === "last" ? said.value : undefined);
        }
      });
      const askOn = async () => {
        const wish: Wish = { search, from: id, wants: "states" };
        const args = [redis.channelOf(inboxOf("")), JSON.stringify(wish), id];
        // Not given up because somebody else's question was late: that would begin every search anew.
        const node = await attempt(redis.run(ask, [leaseOf(search)], args));
        if (typeof node === "string") {
          leader = node;
        } else {
          giveUp();
        }
      };
      redis.changes.on("change", lookAround);
      signal.addEventListener("abort", giveUp, { once: true });
      let asking: NodeJS.Timeout | undefined;
      try {
        await ears.heard;
        asking = setInterval(askOn, beatMs);
        if (!signal.aborted) {
          await askOn();
        }
        const last = signal.aborted ? undefined : await promise;
        if (last === undefined && performance.now() - begunAt < beatMs) {
          // Whoever asks again at once, as long as there is nothing to follow, would do little else.
          await sleep(restMs, undefined, { signal });
        }
        return last;
      } catch {
        return undefined;
      } finally {
        clearInterval(asking);
        signal.removeEventListener("abort", giveUp);
        redis.changes.off("change", lookAround);
        ears.leave();
        if (leader !== undefined) {
          const farewell: Wish = { search, from: id, wants: "nothing" };
          void attempt(redis.tell(inboxOf(leader), JSON.stringify(farewell)));
        }
      }
    },
    serve(joined) {
      join = joined;
    },
  };
}

interface Lease {
  hear(from: string, wants: Wish["wants"]): void;
  /** Resolves when all who follow have been told. */
  end(): Promise<void>;
}

/** The claim of a node that cannot ask. */
const alone: Disposable = { [Symbol.dispose]() {} };

function wishFrom(text: string): Wish {
  const { search, from, wants } = fieldsOf(text);
  // A node of an earlier version may ask for the `last` state alone. It ignores the others.
  const follows = wants === "states" || wants === "last";
  return { search: String(search), from: String(from), wants: follows ? "states" : "nothing" };
}

type Heard<T> = { readonly kind: "state" | "last"; readonly value: T } | { readonly kind: "over" };

/** Undefined for what is none of ours. A last word that cannot be read is none. */
function saidFrom<T>(text: string, format: ValueFormat<T>): Heard<T> | undefined {
  const { kind, value } = fieldsOf(text);
  if (kind === "over") {
    return { kind };
  }
  if (kind !== "state" && kind !== "last") {
    return undefined;
  }
  const known = format.read(value);
  return known === undefined ? (kind === "last" ? { kind: "over" } : undefined) : { kind, value: known };
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null ? { ...json } : {};
  } catch {
    return {};
  }
}
