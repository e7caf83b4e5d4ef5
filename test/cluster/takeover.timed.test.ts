import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { until } from "../support/redis.ts";
import type { Server } from "../support/start-server.ts";
import { startStopwatch } from "../support/stopwatch.ts";
import { useSharingNodes } from "./sharing-nodes.ts";

describeWith("redis")("two nodes with one Redis", () => {
  const searches = 20;
  const nodes = useSharingNodes(2, searches);

  test.each([
    ["is stopped in its tracks", "SIGSTOP"],
    ["is killed", "SIGKILL"],
  ] as const)(
    "each of 20 searches is taken over within 2 s when the node that leads them %s",
    async (_, signal) => {
      const [leader, follower] = nodes.all as [Server, Server];
      // Their answers, which come after a whole search, are proven in `searches.test.ts`.
      await nodes.askAll(leader, Array.from({ length: searches }, nodes.nextQuestion));
      const names = [...(await nodes.leaders()).keys()];
      process.kill(leader.pid, signal);
      const elapsedMs = startStopwatch(process.pid, follower.pid);
      const tookMs = new Map<string, number>();
      await until(async () => {
        const seen = await nodes.leaders();
        const now = elapsedMs();
        for (const name of names) {
          if (seen.get(name) === follower.url && !tookMs.has(name)) {
            tookMs.set(name, now);
          }
        }
        return tookMs.size === searches;
      }).finally(() => signal === "SIGSTOP" && process.kill(leader.pid, "SIGCONT"));
      const sorted = [...tookMs.values()].toSorted((a, b) => a - b);
      // A lease of 1.2 s, and one beat of 0.4 s until a follower looks.
      expect(sorted[searches / 2], "the median").toBeLessThan(1600);
      expect(sorted.at(-1), "the worst").toBeLessThan(2000);
    },
  );
});
