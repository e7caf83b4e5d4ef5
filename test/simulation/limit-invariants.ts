import type { Access } from "../../src/access/access.ts";
import type { Account } from "../../src/access/account.ts";
import type { EnteredRequest } from "../../src/access/limits.ts";
import { nameOf, ratesOf } from "../../src/access/plans.ts";
import type { Call } from "./callers.ts";
import type { Clock } from "./clock.ts";
import type { SimulatedNode } from "./node.ts";
import type { createSimulatedRedis } from "./redis.ts";
import type { Scenario } from "./scenario.ts";
import { isCountedByNode } from "./stand-ins/memory-limit-store.ts";
import { createTooLong } from "./too-long.ts";

/** Times are in milliseconds. */
const bounds = {
  /** If the node of a place does not reach the store for this time, the place ends in the store. */
  lease: 10_000,
  /** While a place ended in the store, the store may give it again. */
  placesAfterLease: 2,
  /** Redis learns a script with its first use. The requests of this time may arrive in another order. */
  learning: 50,
  /** Requests of different nodes arrive in an order of their own if they begin within this time. */
  between: 50,
  /** A waiting request looks for a place at least this often, with some time for the answer. */
  look: 1500,
} as const;

interface LimitInvariantsOptions {
  readonly clock: Clock;
  readonly scenario: Scenario;
  readonly redis: ReturnType<typeof createSimulatedRedis>;
  nodeOf(number: number): SimulatedNode | undefined;
  violation(text: string): void;
}

/** The requests that have entered: in the shared store, on all nodes, or in the memory of a process. */
interface Ledger {
  readonly isShared: boolean;
  /** By the subjects of accounts. */
  readonly places: Map<string, Set<Place>>;
  readonly windows: Map<string, Window>;
}

interface Place {
  readonly subject: string;
  readonly node: number;
}

interface Window {
  readonly endsAt: number;
  used: number;
}

/** A request that waits until its caller may start one more search. */
interface WaitingRequest {
  readonly account: Account;
  readonly node: number;
  readonly access: Access;
  readonly order: number;
  readonly beganAt: number;
}

/**
 * - What enters in the memory of a node is within the limits. What enters in the shared store, on all nodes, is within the limits, too.
 *   Only if a node could not renew its places, the store gives each place a second time.
 * - A request enters only if its caller may also start all searches that have waited longer.
 * - No request waits although its caller may start one more search.
 * - When a node is quiet, its callers hold no places.
 */
export function createLimitInvariants({ clock, scenario, redis, nodeOf, violation }: LimitInvariantsOptions) {
  const { acts, nodes, redisFaults } = scenario;
  const isCluster = nodes.length > 1;
  const store = createLedger(isCluster);
  const ownLedgers = new Map<number, Ledger>();
  const accounts = new Map<string, Account>();
  const waiting = new Set<WaitingRequest>();
  const isTooLong = createTooLong<WaitingRequest>(clock.now);
  let begun = 0;
  let learnedAt: number | undefined;

  const pauses = acts.flatMap((act) => (act.kind === "pause" ? [act] : []));
  const kills = acts.flatMap((act) =>
    act.kind === "kill" ? [{ atMs: act.atMs, forMs: act.backAfterMs }] : [],
  );
  const lastEnd = (...times: readonly { readonly atMs: number; readonly forMs: number }[]) =>
    Math.max(
      Number.NEGATIVE_INFINITY,
      ...times
        .filter(({ atMs }) => atMs <= clock.now())
        .map(({ atMs, forMs }) => atMs + forMs + bounds.lease),
    );
  /** Since when the store has answered all nodes, and knows all places. */
  const answersSince = () => lastEnd(...redisFaults, ...pauses);
  /** Since when the store has no places of killed nodes either. */
  const calmSince = () => lastEnd(...redisFaults, ...pauses, ...kills);

  function takePlace(ledger: Ledger, { subject, plan }: Account, node: number): () => void {
    const place = { subject, node };
    const places = ledger.places.get(subject) ?? new Set();
    ledger.places.set(subject, places.add(place));
    const { concurrent } = plan.limits;
    const times = ledger.isShared && answersSince() > clock.now() ? bounds.placesAfterLease : 1;
    if (concurrent !== undefined && places.size > times * concurrent) {
      violation(`node ${node}: ${places.size} searches of ${subject} run, but its plan allows ${concurrent}`);
    }
    return () => void places.delete(place);
  }

  /** The window in which a request was counted. Its end says which window of the store it is. */
  function windowOf({ isShared, windows }: Ledger, name: string, windowMs: number): Window {
    const now = Math.floor(clock.now());
    const known = windows.get(name);
    const leftMs = isShared ? Number(redis.look("PTTL", `kibitz:window:${name}`)) : windowMs;
    const endsAt = now + leftMs;
    const isKnown =
      known !== undefined && (isShared ? Math.abs(endsAt - known.endsAt) <= 2 : known.endsAt > now);
    const window = isKnown ? known : { endsAt, used: 0 };
    windows.set(name, window);
    return window;
  }

  /** Returns a function that gives the requests back. */
  function countRequests(
    ledger: Ledger,
    { subject, plan }: Account,
    node: number,
    requests: number,
  ): () => void {
    const counted = ratesOf(plan, "request").map((policy) => {
      const name = `${nameOf(plan.id, policy)} ${subject}`;
      const window = windowOf(ledger, name, policy.windowS * 1000);
      window.used += requests;
      if (window.used > policy.quota) {
        violation(`node ${node}: ${window.used} requests of ${name} have entered of ${policy.quota}`);
      }
      return window;
    });
    return () => {
      for (const window of counted) {
        window.used -= requests;
      }
    };
  }

  /** The waiting requests of the same caller that have waited longer than the request. */
  function* waitingBefore({ account, node, order, beganAt }: WaitingRequest): Iterable<WaitingRequest> {
    for (const other of waiting) {
      const isEarlier = other.node === node ? other.order < order : other.beganAt + bounds.between < beganAt;
      if (other.account.subject === account.subject && isEarlier && isComparable(other)) {
        yield other;
      }
    }
  }

  /** False for a request that may wait in the memory of a node, or whose arrival is not known. */
  const isComparable = ({ beganAt }: WaitingRequest) =>
    !isCluster || beganAt > Math.max(answersSince(), (learnedAt ?? clock.now()) + bounds.learning);

  const placesOf = (ledger: Ledger, { subject }: Account) => ledger.places.get(subject)?.size ?? 0;

  function checkOrder(ledger: Ledger, request: WaitingRequest): void {
    const { account, node } = request;
    const { concurrent } = account.plan.limits;
    const before = [...waitingBefore(request)];
    if (
      concurrent !== undefined &&
      ledger.isShared === isCluster &&
      before.length > 0 &&
      placesOf(ledger, account) + before.length > concurrent
    ) {
      const now = clock.now();
      // The requests whose turn it was may have been refused in the same millisecond.
      clock.at(now, () => {
        const passed = before.find((other) => waiting.has(other));
        if (passed) {
          const ms = Math.round(now - passed.beganAt);
          violation(
            `node ${node} lets a request of ${account.subject} enter before a request that has waited for ${ms} ms`,
          );
        }
      });
    }
  }

  return {
    opened(number: number, access: Access): void {
      const { limits } = access;
      const { enter } = limits;
      const own = createLedger(false);
      ownLedgers.set(number, own);
      // An earlier process of the node has ended, and its places and requests with it.
      for (const places of store.places.values()) {
        for (const place of places) {
          if (place.node === number) {
            places.delete(place);
          }
        }
      }
      limits.enter = async (account, time, options = {}) => {
        const { requests = 1, waiting: signal, onEntered } = options;
        learnedAt ??= clock.now();
        const request: WaitingRequest = {
          ...{ account, node: number, access, order: begun++, beganAt: clock.now() },
        };
        const forget = () => void waiting.delete(request);
        if (signal && account.plan.limits.concurrent !== undefined) {
          waiting.add(request);
          signal.addEventListener("abort", forget, { once: true });
        }
        let watched: EnteredRequest | undefined;
        try {
          const decision = await enter(account, time, {
            ...options,
            onEntered(entered) {
              waiting.delete(request);
              accounts.set(account.subject, account);
              const ledger = isCluster && !isCountedByNode() ? store : own;
              const free = takePlace(ledger, account, number);
              checkOrder(ledger, request);
              const giveBack = countRequests(ledger, account, number, requests);
              watched = {
                leave(engineMs, answered) {
                  free();
                  if (engineMs <= 0 && !answered) {
                    giveBack();
                  }
                  entered.leave(engineMs, answered);
                },
                freePlace() {
                  free();
                  entered.freePlace();
                },
              };
              onEntered?.(watched);
            },
          });
          return decision.kind === "entered" && watched ? { ...decision, entered: watched } : decision;
        } finally {
          forget();
          signal?.removeEventListener("abort", forget);
        }
      };
    },
    sample(): void {
      for (const request of waiting) {
        const { account, access, node } = request;
        if (nodeOf(node)?.access !== access) {
          // The process has been killed.
          waiting.delete(request);
          continue;
        }
        const ledger = isCluster ? store : ownLedgers.get(node);
        const { concurrent = 0 } = account.plan.limits;
        const hasRoom =
          ledger !== undefined &&
          isComparable(request) &&
          calmSince() < clock.now() &&
          placesOf(ledger, account) + [...waitingBefore(request)].length < concurrent;
        if (isTooLong(request, hasRoom, bounds.look)) {
          violation(
            `node ${node}: a request of ${account.subject} waits, although its caller may start a search`,
          );
        }
      }
    },
    isFull(number: number, { caller }: Call): boolean {
      const ledgers = [store, ownLedgers.get(number) ?? store];
      return ledgers.some((ledger) =>
        [...ledger.places].some(
          ([subject, places]) =>
            (caller.key !== undefined || subject === caller.address) &&
            places.size >= (accounts.get(subject)?.plan.limits.concurrent ?? Number.POSITIVE_INFINITY),
        ),
      );
    },
    /** Nothing is held, and each caller may run as many searches as its plan allows. */
    async checkQuiet({ number, access }: SimulatedNode): Promise<void> {
      for (const ledger of [store, ownLedgers.get(number) ?? store]) {
        for (const [subject, places] of ledger.places) {
          const own = [...places].filter(({ node }) => node === number).length;
          if (own > 0) {
            violation(`node ${number} is quiet, but ${subject} holds ${own} places`);
          }
        }
      }
      for (const account of accounts.values()) {
        const entered: EnteredRequest[] = [];
        const { concurrent = 0 } = account.plan.limits;
        for (let count = 1; count <= concurrent; count++) {
          const decision = await access?.limits.enter(
            account,
            { expectedMs: 1, longestMs: 1 },
            { requests: 0 },
          );
          if (decision?.kind === "entered") {
            entered.push(decision.entered);
          } else if (decision?.refusal.code === "concurrency_limited") {
            violation(`node ${number} is quiet, but ${account.subject} may run ${count - 1} searches only`);
          }
        }
        for (const request of entered) {
          request.leave(0, false);
        }
      }
    },
  };
}

const createLedger = (isShared: boolean): Ledger => ({ isShared, places: new Map(), windows: new Map() });
