import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import type { ClusterNode } from "../../tools/cluster/start-cluster.ts";
import { go } from "../clients/languages/go.ts";
import { python } from "../clients/languages/python.ts";
import { typescript } from "../clients/languages/typescript.ts";
import { descendantsOf } from "../engine/processes.ts";
import { describeWith } from "../support/needs.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { balancers } from "./balancers.ts";
import { useCluster } from "./cluster-under-load.ts";
import { jsonCaller, nextQuestion, startTraffic } from "./traffic.ts";
import { forgetAnswers, killUnderStreams, watchExample } from "./watch-example.ts";

describeWith(
  "redis",
  "haproxy",
  "nginx",
  "go",
  "python",
  "chromium",
)("nodes behind a balancer", () => {
  const folder = useTemporaryFolder();
  const languages = [go, python, typescript];
  const loaded = useCluster(languages);
  const firstNode = () => loaded.cluster.nodes[0] as ClusterNode;

  function signal(name: NodeJS.Signals): void {
    const { pid } = firstNode();
    for (const each of [pid, ...descendantsOf(pid)]) {
      process.kill(each, name);
    }
  }

  test.each([
    ["SIGKILL", null],
    ["SIGTERM", 0],
  ] as const)(
    "no call fails when the nodes are ended by %s and restarted, one node after another",
    async (signal, code) => {
      const { cluster, answerAllWhile, untilUp } = loaded;
      await answerAllWhile(async () => {
        for (const node of cluster.nodes) {
          expect(await node.stop(signal)).toBe(code);
          await untilUp(node, false);
          await node.start();
          await untilUp(node);
        }
      });
    },
  );

  test("no call fails when a node behind nginx is killed", async () => {
    const { cluster, answerAllWhile, untilUp } = loaded;
    const [first = "", second = "", third = ""] = cluster.nodes.map(({ url }) => new URL(url).host);
    await using balanced = await balancers.nginx.start([first, second, third], folder);
    await vi.waitFor(async () => expect((await fetch(`${balanced.url}/readyz`)).status).toBe(200), 60_000);
    try {
      // The node is not restarted during the calls, because nginx sends calls to nodes that are not ready.
      await answerAllWhile(async () => {
        await firstNode().stop("SIGKILL");
        await sleep(5000);
      }, balanced);
    } finally {
      await firstNode().start();
      await untilUp(firstNode());
    }
  });

  test("a node that is paused two thirds of the time gets fewer calls than other nodes, and no call fails", async () => {
    const { counts, answerAllWhile } = loaded;
    const before = await counts();
    await answerAllWhile(async () => {
      try {
        for (let turn = 0; turn < 130; turn++) {
          signal("SIGSTOP");
          await sleep(30);
          signal("SIGCONT");
          await sleep(15);
        }
      } finally {
        signal("SIGCONT");
      }
    });
    const [ofSlow = 0, ...ofOthers] = (await counts()).map(({ sum }, at) => sum - (before[at]?.sum ?? 0));
    expect(ofSlow).toBeGreaterThan(0);
    expect(ofSlow).toBeLessThan(Math.min(...ofOthers));
  });

  test("no call fails when a node is paused: new calls are sent to other nodes, and calls to the paused node continue later", async () => {
    const { cluster, answerAllWhile, untilUp } = loaded;
    await answerAllWhile(async () => {
      signal("SIGSTOP");
      try {
        await untilUp(firstNode(), false);
        const ask = jsonCaller(cluster.url);
        for (let calls = 0; calls < 10; calls++) {
          await ask(nextQuestion(1));
        }
      } finally {
        signal("SIGCONT");
      }
    });
    await untilUp(firstNode());
  });

  test("no call through the balancer fails while other callers flood a node directly", async () => {
    await loaded.answerAllWhile(async () => {
      const flood = startTraffic(
        Array.from({ length: 20 }, () => jsonCaller(firstNode().url)),
        () => nextQuestion(10),
      );
      await sleep(4000);
      await flood.stop();
    });
  });

  let undisturbed: readonly string[] = [];
  test.each(languages.flatMap(({ examples }) => examples))(
    "the example $name reconnects when the node of its stream is killed, and gets the same result",
    async (example) => {
      if (undisturbed.length === 0) {
        forgetAnswers(loaded.cluster);
        const { depths, lost } = await watchExample(example, loaded.cluster.url);
        expect(lost).toBe(0);
        undisturbed = depths;
      }
      const { watched } = await killUnderStreams(loaded, [example], { untilExit: true });
      expect(watched).toMatchObject([{ depths: undisturbed, lost: 1 }]);
    },
  );
});
