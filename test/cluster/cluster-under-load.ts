import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { waitingEngine, waitingEngineSettings } from "../../bench/cluster/waiting-engine.ts";
import { type Cluster, type ClusterNode, startCluster } from "../../tools/cluster/start-cluster.ts";
import type { Language } from "../clients/language.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import type { Balanced } from "./balancers.ts";
import {
  grpcCaller,
  jsonCaller,
  nextQuestion,
  type Outcome,
  startGoTraffic,
  startTraffic,
} from "./traffic.ts";

/** The statistics that HAProxy has about a node. */
interface Counted {
  readonly now: number;
  readonly sum: number;
  /** True if HAProxy sends new requests to the node. */
  readonly isUp: boolean;
}

/** Three nodes behind HAProxy, with the configuration from `deploy/`. */
export interface LoadedCluster {
  readonly cluster: Cluster;
  counts(): Promise<readonly Counted[]>;
  /**
   * Waits until HAProxy sends new requests to the node. If `isUp` is false, waits until HAProxy sends no new requests to the
   * node.
   */
  untilUp(node: ClusterNode, isUp?: boolean): Promise<void>;
  /** Makes HAProxy send all new requests to one node. Without an argument, all nodes get requests again. */
  askOnly(node?: ClusterNode): Promise<void>;
  /**
   * Runs `happen` while many callers send requests to the cluster. Only gRPC callers retry failed calls. Fails unless every
   * call succeeds.
   */
  answerAllWhile(happen: () => Promise<void>, balanced?: Pick<Balanced, "url" | "http2Url">): Promise<void>;
}

/** The default engine of the nodes is Stockfish 19 lite. */
export function useCluster(languages: readonly Language[]): LoadedCluster {
  let running: Cluster | undefined;
  beforeAll(async () => {
    for (const language of languages) {
      await language.build();
    }
    const { KIBITZ_PORT: _, KIBITZ_NATIVE_ENGINES: _none, ...settings } = quickestSettings;
    const { KIBITZ_NATIVE_ENGINES } = waitingEngineSettings();
    const env = { ...settings, KIBITZ_NATIVE_ENGINES, KIBITZ_SLOTS: "1", KIBITZ_CACHE_MB: "0" };
    running = await startCluster({ env: { ...env, KIBITZ_CORS_ORIGINS: "*" } });
  });
  afterAll(() => running?.[Symbol.asyncDispose]());

  const cluster = () => {
    if (running === undefined) {
      throw new Error("the cluster runs only while tests do");
    }
    return running;
  };
  const sendCommands = async (...commands: readonly string[]) => {
    const socket = connect(cluster().balancerSocket);
    socket.end(`${commands.join("; ")}\n`);
    return text(socket);
  };

  async function counts(): Promise<readonly Counted[]> {
    const rows = (await sendCommands("show stat")).split("\n").map((row) => row.split(","));
    return cluster().nodes.map(({ name }) => {
      // The columns of HAProxy's statistics: 0 is the proxy, 1 the server, 4 the current requests, 7 the sum of requests and 17
      // the status.
      const row = rows.find(([, server]) => server === name) ?? [];
      const [, , , , now, , , sum] = row;
      return { now: Number(now), sum: Number(sum), isUp: row[17]?.startsWith("UP") === true };
    });
  }

  const untilUp = (node: ClusterNode, isUp = true) =>
    vi.waitFor(async () => expect((await counts())[cluster().nodes.indexOf(node)]?.isUp).toBe(isUp), {
      timeout: 60_000,
      interval: 20,
    });

  async function answerAllWhile(
    happen: () => Promise<void>,
    { url, http2Url }: Pick<Balanced, "url" | "http2Url"> = { url: cluster().url, http2Url: cluster().url },
  ): Promise<void> {
    using shared = grpcCaller(http2Url);
    using own = grpcCaller(http2Url);
    const question = () => nextQuestion(4, waitingEngine);
    const jsonCallers = ["/v1/eval", "/v1/bestmove"].map((path) => jsonCaller(url, path));
    const json = startTraffic(jsonCallers, question);
    const grpcJs = startTraffic([shared, own], question);
    const stopGo = startGoTraffic(http2Url, 2, question);
    const isBusy = () => Math.min(json.counts.calls, grpcJs.counts.calls) > 10;
    await vi.waitFor(() => expect(isBusy()).toBe(true), 60_000);
    await happen();
    const [grpcGo] = await Promise.all([stopGo(), json.stop(), grpcJs.stop()]);
    const outcomes: Readonly<Record<string, Outcome>> = {
      json: { calls: json.counts.calls, failures: json.failures },
      grpcJs: { calls: grpcJs.counts.calls, failures: grpcJs.failures },
      grpcGo,
    };
    for (const [kind, { calls, failures }] of Object.entries(outcomes)) {
      expect(failures, kind).toEqual([]);
      expect(calls, kind).toBeGreaterThan(10);
    }
  }

  return {
    get cluster() {
      return cluster();
    },
    counts,
    untilUp,
    async askOnly(only) {
      const stateOf = (node: ClusterNode) => (only === undefined || node === only ? "ready" : "drain");
      await sendCommands(
        ...cluster().nodes.map((node) => `set server nodes/${node.name} state ${stateOf(node)}`),
      );
    },
    answerAllWhile,
  };
}
