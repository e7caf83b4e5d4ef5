import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { until } from "../support/redis.ts";
import type { Server } from "../support/start-server.ts";
import { useSharingNodes } from "./sharing-nodes.ts";

describeWith("redis")("three nodes with one Redis", () => {
  const nodes = useSharingNodes(3, 1);

  /** All nodes are asked the same: one leads the search, and the others follow it. */
  async function askAll() {
    const [leader, ...followers] = nodes.all as [Server, ...Server[]];
    const answers = await nodes.askAll(leader, [nodes.nextQuestion()]);
    const answerOf = async (node: Server) => (await answers.get(node))?.[0];
    return { leader, followers, answerOf };
  }

  const isTakenOver = (from: Server) =>
    until(async () => {
      const [address] = (await nodes.leaders()).values();
      return address !== undefined && address !== from.url;
    });

  /** Fails unless the answers are of one search: two would differ in their times. */
  async function expectOneSearch(answers: readonly Promise<object | undefined>[]): Promise<void> {
    const searches = (await Promise.all(answers)).map((answer) => (answer as { search: object }).search);
    expect(searches[0]).toMatchObject({ stop_reason: "depth", depth: 30 });
    for (const search of searches) {
      expect(search).toEqual(searches[0]);
    }
  }

  test("the nodes that follow a search take it over when the node that leads it is killed", async () => {
    const { leader, followers, answerOf } = await askAll();
    await leader.stop("SIGKILL");
    await isTakenOver(leader);
    await expectOneSearch(followers.map(answerOf));
    await nodes.replace(leader);
  });

  test("the nodes that follow a search take it over when the node that leads it stands still, and that node answers later", async () => {
    const { leader, followers, answerOf } = await askAll();
    process.kill(leader.pid, "SIGSTOP");
    try {
      await isTakenOver(leader);
      await expectOneSearch(followers.map(answerOf));
    } finally {
      process.kill(leader.pid, "SIGCONT");
    }
    expect(await answerOf(leader)).toMatchObject({ lines: [{}] });
  });

  test("each node answers by itself when Redis is killed, and they search together again when it is back", async () => {
    const { answerOf } = await askAll();
    await nodes.redis.kill();
    for (const node of nodes.all) {
      expect(await answerOf(node)).toMatchObject({ search: { stop_reason: "depth" } });
    }
    await nodes.redis.restart();
    await until(
      () => nodes.store.ask("ZCARD", ["nodes"]).catch(() => 0),
      (count) => count === nodes.all.length,
      30_000,
    );
    const again = await askAll();
    await expectOneSearch(nodes.all.map(again.answerOf));
  });
});
