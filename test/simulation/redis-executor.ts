import { hash } from "node:crypto";
import { createRedisData, Rejection, type Reply, writes } from "./redis-data.ts";
import type { Refusal } from "./redis-faults.ts";
import { runScript } from "./redis-scripts.ts";

/** The data and the scripts of a Redis server, without a network. */
interface RedisExecutor {
  /** Executes a command. Throws a Rejection. */
  execute(command: readonly string[], refusal?: Refusal): Reply;
  /** Forgets the scripts, and the data unless `keepsData`. */
  restart(keepsData: boolean): void;
}

const refusals: Readonly<Record<Refusal, string>> = {
  OOM: "command not allowed when used memory > 'maxmemory'.",
  READONLY: "You can't write against a read only replica.",
  MISCONF: "Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
  LOADING: "Redis is loading the dataset in memory",
};

const refused = (refusal: Refusal) => new Rejection(`${refusal} ${refusals[refusal]}`);

/** @param clock returns Redis's time in milliseconds since 1970 */
export function createRedisExecutor(clock: () => number): RedisExecutor {
  let nowMs = 0;
  const data = createRedisData(() => nowMs);
  const known = new Set<string>();

  /** Like Redis, lets a script that has already written go on although the memory is full. */
  function caller(refusal: Refusal | undefined): typeof data.call {
    let hasWritten = false;
    return (command, ...args) => {
      const needsMemory = writes[command];
      const isRefused = refusal === "OOM" ? needsMemory === true && !hasWritten : needsMemory !== undefined;
      if (refusal !== undefined && isRefused) {
        throw refused(refusal);
      }
      hasWritten ||= needsMemory !== undefined;
      return data.call(command, ...args);
    };
  }

  function evaluate(sha1: string, call: typeof data.call, rest: readonly string[]): Reply {
    const [count = 0] = rest.map(Number);
    return runScript(sha1, call, rest.slice(1, 1 + count), rest.slice(1 + count));
  }

  return {
    execute([command = "", ...args], refusal) {
      nowMs = clock();
      if (refusal === "LOADING") {
        throw refused(refusal);
      }
      const call = caller(refusal);
      const [first = "", ...rest] = args;
      switch (command) {
        case "EVALSHA":
          if (!known.has(first)) {
            throw new Rejection("NOSCRIPT No matching script. Please use EVAL.");
          }
          return evaluate(first, call, rest);
        case "EVAL": {
          const sha1 = hash("sha1", first);
          known.add(sha1);
          return evaluate(sha1, call, rest);
        }
        case "SCRIPT":
          known.clear();
          return "OK";
        default:
          return call(command, ...args);
      }
    },
    restart(keepsData) {
      known.clear();
      if (!keepsData) {
        data.clear();
      }
    },
  };
}
