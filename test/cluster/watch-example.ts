import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import type { Cluster } from "../../tools/cluster/start-cluster.ts";
import type { Language } from "../clients/language.ts";
import { startStopwatch } from "../support/stopwatch.ts";
import type { LoadedCluster } from "./cluster-under-load.ts";

export type Example = Language["examples"][number];

export interface Watched {
  /** Lines such as `depth 3: +0.12 Nf6`. */
  readonly depths: readonly string[];
  readonly lost: number;
}

interface WatchOptions {
  /** Called after each printed depth, with the number of lost connections so far. */
  readonly onDepth?: (lost: number) => void;
  /** If true, the example runs until it exits. If false, the example is killed at the end of its stream. */
  readonly untilExit?: boolean;
}

export async function watchExample(
  { command: [file = "", ...args], cwd, env }: Example,
  url: string,
  { onDepth = () => {}, untilExit = false }: WatchOptions = {},
): Promise<Watched> {
  const child = spawn(file, [...args, url], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const depths: string[] = [];
  let lost = 0;
  const ended = once(child, "exit");
  for await (const line of createInterface(child.stdout)) {
    lost += line === "connection lost, asking again" ? 1 : 0;
    if (line.startsWith("depth ")) {
      depths.push(line);
      onDepth(lost);
    }
    if (!untilExit && line.endsWith(" final")) {
      child.kill("SIGKILL");
      break;
    }
  }
  const [code] = await ended;
  expect(code).toBe(untilExit ? 0 : null);
  expect(depths.at(-1)).toMatch(/ final$/);
  return { depths, lost };
}

/**
 * Waits until every example client has received a part of a stream from one node, and then kills this node.
 * @returns the output of the examples, and the milliseconds from the kill until each example received more from another node
 */
export async function killUnderStreams(
  { cluster, askOnly, untilUp }: LoadedCluster,
  examples: readonly Example[],
  { untilExit = false }: Pick<WatchOptions, "untilExit"> = {},
): Promise<{ readonly watched: readonly Watched[]; readonly backMs: readonly number[] }> {
  const [killed] = cluster.nodes;
  if (killed === undefined) {
    throw new Error("the cluster has no node");
  }
  forgetAnswers(cluster);
  await askOnly(killed);
  const begun = examples.map(() => Promise.withResolvers<void>());
  let elapsedMs = () => Number.NaN;
  const backMs: number[] = examples.map(() => Number.NaN);
  const watching = Promise.all(
    examples.map((example, index) => {
      const onDepth = (lost: number) => {
        begun[index]?.resolve();
        if (lost > 0 && Number.isNaN(backMs[index])) {
          backMs[index] = elapsedMs();
        }
      };
      return watchExample(example, cluster.url, { onDepth, untilExit });
    }),
  );
  await Promise.race([watching, Promise.all(begun.map(({ promise }) => promise))]);
  await askOnly();
  elapsedMs = startStopwatch(process.pid, cluster.balancer.pid);
  const gone = killed.stop("SIGKILL");
  const watched = await watching;
  await gone;
  await killed.start();
  await untilUp(killed);
  return { watched, backMs };
}

/** Deletes all stored results, so that the nodes have to search again. */
export function forgetAnswers({ redisUrl }: Cluster): void {
  execFileSync("redis-cli", ["-u", redisUrl, "flushall"]);
}
