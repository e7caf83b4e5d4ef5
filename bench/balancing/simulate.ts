import { createRandom, type Random } from "../../test/support/random.ts";

/** How a balancer chooses a node. */
export type Policy =
  /** No nodes: one queue in front of all slots. What no balancer can be better than. */
  | "one central queue"
  /** Who has the fewest requests, of all: HAProxy's leastconn, Envoy's full scan. */
  | "least, of all"
  /** Two such balancers, each of which counts only what it has sent itself. */
  | "two, not sharing"
  /** Who has fewer of two that are drawn. */
  | "least, of two"
  | "round robin"
  /** What Kubernetes does by itself. */
  | "random"
  /** One connection of gRPC for each client, and a balancer of connections: all its calls go where the first one went. */
  | "by connection";

export interface Load {
  readonly nodes: number;
  readonly slots: number;
  /** Of what all slots can do: 0.7. */
  readonly load: number;
  readonly arrivals: number;
  readonly seed: number;
}

/** The questions that come, the same for every policy: when, and how long each takes, in milliseconds. */
export interface Arrivals {
  readonly atMs: Float64Array;
  readonly takesMs: Float64Array;
}

/** Clients of gRPC a node, for "by connection". */
const clientsPerNode = 4;

/** Searches as an installation for people has them: most short, one in two hundred a minute long. In milliseconds. */
export function searchMs(random: Random): number {
  const kind = random.real();
  const around = (ms: number) => ms * (0.5 + random.real());
  if (kind < 0.7) {
    return around(170);
  }
  if (kind < 0.94) {
    return around(650);
  }
  return kind < 0.995 ? 1000 + 9000 * random.real() : 60_000;
}

/** The mean of {@link searchMs}. */
export const meanSearchMs = 0.7 * 170 + 0.24 * 650 + 0.055 * 5500 + 0.005 * 60_000;

/** Arrivals as of many callers who know nothing of each other. */
export function createArrivals(
  { nodes, slots, load, arrivals, seed }: Load,
  takes = searchMs,
  meanMs = meanSearchMs,
): Arrivals {
  const random = createRandom(seed);
  const everyMs = meanMs / (nodes * slots * load);
  const atMs = new Float64Array(arrivals);
  const takesMs = new Float64Array(arrivals);
  let nowMs = 0;
  for (let at = 0; at < arrivals; at++) {
    nowMs -= everyMs * Math.log(1 - random.real());
    atMs[at] = nowMs;
    takesMs[at] = takes(random);
  }
  return { atMs, takesMs };
}

/** How long each waited for a slot, in milliseconds; of those that came after the first tenth, when the queues have formed. */
export function simulate(policy: Policy, load: Load, { atMs, takesMs }: Arrivals): Float64Array {
  const isCentral = policy === "one central queue";
  const nodes = isCentral ? 1 : load.nodes;
  const slots = isCentral ? load.nodes * load.slots : load.slots;
  const choose = createChooser(policy, nodes, createRandom(load.seed + 1));
  const free = new Int32Array(nodes).fill(slots);
  const waiting = Array.from({ length: nodes }, () => new Queue());
  const ends = new Ends();
  const waitedMs = new Float64Array(atMs.length);
  /** Which node has it, and by which balancer. */
  const nodeOf = new Int32Array(atMs.length);

  const begin = (request: number, nowMs: number) => {
    waitedMs[request] = nowMs - at(atMs, request);
    ends.push(nowMs + at(takesMs, request), request);
  };
  const endUntil = (untilMs: number) => {
    while (ends.nextMs < untilMs) {
      const nowMs = ends.nextMs;
      const request = ends.pop();
      const node = at(nodeOf, request);
      choose.end(node, request);
      const next = waiting[node]?.shift();
      if (next === undefined) {
        free[node] = at(free, node) + 1;
      } else {
        begin(next, nowMs);
      }
    }
  };
  for (let request = 0; request < atMs.length; request++) {
    const nowMs = at(atMs, request);
    endUntil(nowMs);
    const node = choose.begin(request);
    nodeOf[request] = node;
    if (at(free, node) > 0) {
      free[node] = at(free, node) - 1;
      begin(request, nowMs);
    } else {
      waiting[node]?.push(request);
    }
  }
  endUntil(Number.POSITIVE_INFINITY);
  return waitedMs.subarray(Math.floor(atMs.length / 10));
}

interface Chooser {
  /** Chooses a node for a request, and counts it there. */
  begin(request: number): number;
  end(node: number, request: number): void;
}

function createChooser(policy: Policy, nodes: number, random: Random): Chooser {
  const ignore = () => {};
  switch (policy) {
    case "one central queue":
      return { begin: () => 0, end: ignore };
    case "least, of all":
      return createLeast(nodes, random);
    case "two, not sharing": {
      const balancers = [createLeast(nodes, random), createLeast(nodes, random)] as const;
      const balancerOf = (request: number) => balancers[request % 2 === 0 ? 0 : 1];
      return {
        begin: (request) => balancerOf(request).begin(request),
        end: (node, request) => balancerOf(request).end(node, request),
      };
    }
    case "least, of two": {
      const counts = new Int32Array(nodes);
      return {
        begin() {
          const [one, other] = [random.below(nodes), random.below(nodes)];
          const node = at(counts, other) < at(counts, one) ? other : one;
          counts[node] = at(counts, node) + 1;
          return node;
        },
        end(node) {
          counts[node] = at(counts, node) - 1;
        },
      };
    }
    case "round robin":
      return { begin: (request) => request % nodes, end: ignore };
    case "random":
      return { begin: () => random.below(nodes), end: ignore };
    case "by connection": {
      const connectedTo = Int32Array.from({ length: nodes * clientsPerNode }, () => random.below(nodes));
      return { begin: () => at(connectedTo, random.below(connectedTo.length)), end: ignore };
    }
  }
}

/** Knows the nodes by how many requests each has, so that ten thousand take no longer than three. */
function createLeast(nodes: number, random: Random): Chooser {
  const counts = new Int32Array(nodes);
  /** Where a node stands among those with as many. */
  const places = Int32Array.from({ length: nodes }, (_, node) => node);
  const byCount: number[][] = [Array.from({ length: nodes }, (_, node) => node)];
  let least = 0;
  const move = (node: number, by: 1 | -1) => {
    const from = byCount[at(counts, node)] ?? [];
    const last = from.pop() ?? node;
    if (last !== node) {
      from[at(places, node)] = last;
      places[last] = at(places, node);
    }
    const count = at(counts, node) + by;
    counts[node] = count;
    byCount[count] ??= [];
    places[node] = (byCount[count]?.push(node) ?? 1) - 1;
    least = Math.min(least, count);
  };
  return {
    begin() {
      while (byCount[least]?.length === 0) {
        least++;
      }
      const idlest = byCount[least] ?? [0];
      const node = idlest[random.below(idlest.length)] ?? 0;
      move(node, 1);
      return node;
    },
    end: (node) => move(node, -1),
  };
}

/** First come, first served. */
class Queue {
  #requests: number[] = [];
  #first = 0;

  push(request: number): void {
    this.#requests.push(request);
  }

  shift(): number | undefined {
    const request = this.#requests[this.#first];
    if (request === undefined) {
      this.#requests = [];
      this.#first = 0;
    } else {
      this.#first++;
    }
    return request;
  }
}

/** When searches end, the next one first: a binary heap. */
class Ends {
  readonly #ms: number[] = [];
  readonly #requests: number[] = [];

  get nextMs(): number {
    return this.#ms[0] ?? Number.POSITIVE_INFINITY;
  }

  push(ms: number, request: number): void {
    let place = this.#ms.length;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const aboveMs = at(this.#ms, above);
      if (aboveMs <= ms) {
        break;
      }
      this.#set(place, aboveMs, at(this.#requests, above));
      place = above;
    }
    this.#set(place, ms, request);
  }

  /** The request that ends next. */
  pop(): number {
    const first = at(this.#requests, 0);
    const ms = this.#ms.pop() ?? 0;
    const request = this.#requests.pop() ?? 0;
    const { length } = this.#ms;
    if (length === 0) {
      return first;
    }
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below + 1 < length && at(this.#ms, below + 1) < at(this.#ms, below)) {
        below++;
      }
      if (below >= length || at(this.#ms, below) >= ms) {
        break;
      }
      this.#set(place, at(this.#ms, below), at(this.#requests, below));
      place = below;
    }
    this.#set(place, ms, request);
    return first;
  }

  #set(place: number, ms: number, request: number): void {
    this.#ms[place] = ms;
    this.#requests[place] = request;
  }
}

/** What stands in a place that is known to be there. */
function at(values: ArrayLike<number>, place: number): number {
  return values[place] ?? 0;
}
