import { beforeAll, expect, test } from "vitest";
import type { ClusterNode } from "../../tools/cluster/start-cluster.ts";
import { go } from "../clients/languages/go.ts";
import { python } from "../clients/languages/python.ts";
import { describeWith } from "../support/needs.ts";
import { useCluster } from "./cluster-under-load.ts";
import { forgetAnswers, killUnderStreams, watchExample } from "./watch-example.ts";

describeWith(
  "redis",
  "haproxy",
  "go",
  "python",
)("nodes behind HAProxy", () => {
  const loaded = useCluster([go, python]);
  const [goExample, pythonExample] = ["go: grpc-go", "python: JSON with requests"].map((name) =>
    [...go.examples, ...python.examples].find((example) => example.name === name),
  );
  if (goExample === undefined || pythonExample === undefined) {
    throw new Error("the examples have other names");
  }

  test("no call fails when one node is killed, another node is stopped, and both are restarted", async () => {
    const { cluster, answerAllWhile, untilUp } = loaded;
    const [killed, terminated] = cluster.nodes as [ClusterNode, ClusterNode];
    await answerAllWhile(async () => {
      for (const [node, signal, code] of [
        [killed, "SIGKILL", null],
        [terminated, "SIGTERM", 0],
      ] as const) {
        expect(await node.stop(signal)).toBe(code);
        await untilUp(node, false);
        await node.start();
        await untilUp(node);
      }
    });
  });

  let undisturbed: readonly string[] = [];
  beforeAll(async () => {
    forgetAnswers(loaded.cluster);
    const { depths, lost } = await watchExample(goExample, loaded.cluster.url);
    expect(lost).toBe(0);
    undisturbed = depths;
  });

  test.each([goExample, pythonExample])(
    "the example $name reconnects when the node of its stream is killed, and gets the same result",
    async (example) => {
      const { watched } = await killUnderStreams(loaded, [example]);
      expect(watched).toMatchObject([{ depths: undisturbed, lost: 1 }]);
    },
  );
});
