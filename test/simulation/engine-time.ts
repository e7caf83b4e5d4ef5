import type { Access } from "../../src/access/access.ts";
import type { Account } from "../../src/access/account.ts";
import { ratesOf } from "../../src/access/plans.ts";
import { errorFromUnknown } from "../../src/errors/errors.ts";
import type { Clock } from "./clock.ts";
import type { SimulatedNode } from "./node.ts";

/** A node notices the end of an engine, and the end of a search, this much later. */
const noticeMs = 300;

/** A failed search is tried again once. */
const attempts = 2;

/** After the longest window, an account with shorter windows than this has all its engine time again. */
const windowMaxMs = 120_000;

interface EngineTimeOptions {
  readonly node: SimulatedNode;
  readonly access: Access;
  readonly clock: Clock;
  /** The milliseconds that the engines of all nodes have searched: nodes of a cluster share searches. */
  searchedMs(): number;
  /** The admitted calls of all nodes. */
  readonly admitted: Set<Admitted>;
  /** The accounts that were charged since the first start of the node. */
  readonly charged: Map<string, Account>;
  violation(text: string): void;
}

/** What the engines of all nodes had searched when an admitted call could have begun to share a search. */
export interface Admitted {
  /** The number of the node. */
  readonly node: number;
  readonly searchedMs: number;
}

/** Checks that no caller is charged for more engine time than engines have searched. */
export function watchEngineTime(options: EngineTimeOptions) {
  const { node, access, clock, searchedMs, admitted, charged, violation } = options;
  const { limits } = access;
  const { enter } = limits;
  // An earlier process of the node has ended, and its calls with it.
  for (const call of admitted) {
    if (call.node === node.number) {
      admitted.delete(call);
    }
  }

  limits.enter = (account, time, options = {}) => {
    const { onEntered } = options;
    return enter(account, time, {
      ...options,
      onEntered(entered) {
        // A caller that joins a search is charged from the beginning of the search.
        const began = Math.min(searchedMs(), ...[...admitted].map(({ searchedMs }) => searchedMs));
        const call = { node: node.number, searchedMs: began };
        admitted.add(call);
        const { leave } = entered;
        entered.leave = (engineMs, answered) => {
          admitted.delete(call);
          const ms = searchedMs() - call.searchedMs;
          // A batch searches in all slots at the same time.
          if (engineMs > node.status().slots * ms + attempts * noticeMs + node.pausedMs()) {
            violation(
              `${node.name} charges ${account.subject} for ${Math.round(engineMs)} ms, but engines searched for ${Math.round(ms)} ms`,
            );
          }
          if (engineMs > 0) {
            charged.set(account.subject, account);
          }
          leave(engineMs, answered);
        };
        onEntered?.(entered);
      },
    });
  };

  return {
    /** After its windows, each account has engine time again. */
    async checkWindows(): Promise<void> {
      const lengths = [...charged.values()].flatMap(({ plan }) =>
        ratesOf(plan, "engine_ms").map(({ windowS }) => windowS * 1000),
      );
      const longestMs = Math.max(0, ...lengths);
      if (longestMs > windowMaxMs) {
        return;
      }
      await clock.time.sleep(longestMs + noticeMs);
      for (const account of charged.values()) {
        try {
          await limits.refuseUsedUp(account);
        } catch (thrown) {
          const { code } = errorFromUnknown(thrown);
          violation(`${node.name} refuses ${account.subject} ${longestMs} ms after its last search: ${code}`);
        }
      }
    },
  };
}
