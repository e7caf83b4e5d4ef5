import { beforeAll, expect } from "vitest";
import { waitingEngineSettings } from "../../bench/cluster/waiting-engine.ts";
import { openRedis, type Redis } from "../../src/storage/redis/connection.ts";
import { type RunningRedis, until, useRedis } from "../support/redis.ts";
import { type Server, startServer } from "../support/start-server.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

export interface Question {
  readonly fen: string;
  readonly depth: number;
}

/** Equal nodes with one Redis, whose engines only wait. A search of 30 plies takes them 3 s. */
export interface SharingNodes {
  readonly all: readonly Server[];
  readonly redis: RunningRedis;
  /** A patient connection, for the test itself. */
  readonly store: Redis;
  /** Never the same twice. */
  nextQuestion(): Question;
  /** Fails unless the answer is 200. */
  ask(node: Server, question: Question): Promise<object>;
  /** The address of the node at each search that Redis knows of, by the name of the search. */
  leaders(): Promise<ReadonlyMap<string, string>>;
  /** Asks one node, and the others once it leads. Resolves when all others follow. @returns their answers, in the order of the nodes */
  askAll(
    leader: Server,
    questions: readonly Question[],
  ): Promise<ReadonlyMap<Server, Promise<readonly object[]>>>;
  /** Starts a node in the place of one that was killed. */
  replace(killed: Server): Promise<void>;
}

/** Starts them before the tests of a file or group, and ends them after these. */
export function useSharingNodes(count: number, slots: number): SharingNodes {
  const redis = useRedis();
  const folder = useTemporaryFolder();
  let nodes: readonly Server[] = [];
  let store: Redis | undefined;
  let asked = 0;
  let settings: NodeJS.ProcessEnv = {};

  const start = () =>
    startServer({
      ...settings,
      PATH: process.env.PATH,
      KIBITZ_REDIS_URL: redis.url,
      KIBITZ_DATA_DIR: folder,
      KIBITZ_SLOTS: String(slots),
    });
  const opened = () => {
    if (store === undefined) {
      throw new Error("the nodes run only while tests do");
    }
    return store;
  };

  beforeAll(async () => {
    settings = waitingEngineSettings(100);
    nodes = await Promise.all(Array.from({ length: count }, start));
    const times = { operationMaxMs: 10_000, connectMaxMs: 10_000 };
    const connection = await openRedis({ url: redis.url, prefix: "kibitz:", times });
    store = connection;
    return async () => {
      connection[Symbol.dispose]();
      await Promise.all(nodes.map((node) => node.stop("SIGKILL")));
    };
  });

  async function ask({ url }: Server, question: Question): Promise<object> {
    const response = await fetch(`${url}/v1/eval`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(question),
    });
    const answer = (await response.json()) as object;
    expect([response.status, answer]).toEqual([200, answer]);
    return answer;
  }

  const listOf = (reply: unknown) => (Array.isArray(reply) ? reply.map(String) : []);

  async function leaders(): Promise<ReadonlyMap<string, string>> {
    const keys = listOf(await opened().ask("KEYS", ["search:*"]));
    const leases = await Promise.all(
      keys.map(async (key) => {
        const name = key.slice("kibitz:".length);
        const lease = await opened().ask("GET", [name]);
        const report =
          lease === null ? null : await opened().ask("GET", [`node:${String(lease).split(" ")[0]}`]);
        return [name, report ? String(JSON.parse(String(report)).address) : ""] as const;
      }),
    );
    return new Map(leases.filter(([, address]) => address !== ""));
  }

  return {
    get all() {
      return nodes;
    },
    redis,
    get store() {
      return opened();
    },
    nextQuestion: () => ({
      fen: `r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 ${++asked}`,
      depth: 30,
    }),
    ask,
    leaders,
    async askAll(leader, questions) {
      await until(leaders, ({ size }) => size === 0);
      const askIt = (node: Server) => {
        const asked = Promise.all(questions.map((question) => ask(node, question)));
        // A node that is killed answers nothing.
        asked.catch(() => {});
        return asked;
      };
      const answers = new Map([[leader, askIt(leader)]]);
      await until(leaders, (seen) => seen.size === questions.length);
      expect(new Set((await leaders()).values())).toEqual(new Set([leader.url]));
      for (const node of nodes.filter((one) => one !== leader)) {
        answers.set(node, askIt(node));
      }
      await until(async () => {
        const channels = listOf(await opened().ask("PUBSUB", [], ["CHANNELS", "*search:*"]));
        const counts =
          channels.length > 0 ? listOf(await opened().ask("PUBSUB", [], ["NUMSUB", ...channels])) : [];
        const followers = counts.filter((_, index) => index % 2 === 1).map(Number);
        return followers.length === questions.length && followers.every((each) => each === count - 1);
      });
      return answers;
    },
    async replace(killed) {
      nodes = [...nodes.filter((node) => node !== killed), await start()];
    },
  };
}
