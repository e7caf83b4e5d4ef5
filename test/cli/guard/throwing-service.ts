import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { guardRequests } from "../../../src/cli/guard-requests.ts";
import { createListener } from "../../../src/http/listener/listener.ts";
import type { NodeRequest, NodeResponse } from "../../../src/http/message.ts";
import { openMetricsServer } from "../../../src/http/metrics-server.ts";
import { sendProblem } from "../../../src/http/send-problem.ts";
import { ownerNow } from "../../../src/request/owner.ts";

/** Serves requests whose code throws where nothing catches, behind the guard. The test sends commands, and gets reports. */

export interface Report {
  readonly logged: readonly {
    readonly request?: string;
    readonly count?: number;
    readonly message: string;
  }[];
  readonly counted: number;
  readonly stops: number;
  /** True if the command itself ran in the context of a request. */
  readonly isOwned: boolean;
}

type Throw = () => never;

/** For each path: the place that throws. `x` is sent as the answer after a while, if the request is not ended before. */
const places: Readonly<Record<string, (fail: Throw, req: NodeRequest, res: NodeResponse) => unknown>> = {
  timer: (fail) => setTimeout(fail, 1),
  "next tick": (fail) => process.nextTick(fail),
  microtask: (fail) => queueMicrotask(fail),
  immediate: (fail) => setImmediate(fail),
  "rejected promise": (fail) => void (async () => fail())(),
  "promise that is rejected later": (fail) => void sleep(1).then(fail),
  "abort listener": (fail) => {
    const controller = new AbortController();
    controller.signal.addEventListener("abort", fail);
    setTimeout(() => controller.abort(), 1);
  },
  "listener of the body": (fail, req) => req.on("data", fail),
  "listener of the end of the body": (fail, req) => req.on("end", fail).resume(),
  "listener of the end of the request": (fail, req) => req.on("close", fail).resume(),
  "listener of the end of the answer": (fail, _, res) => res.on("finish", fail),
  "listener of the close of the answer": (fail, _, res) => res.on("close", fail),
  "listener of the connection": (fail, req) =>
    (req as { stream?: NodeRequest }).stream?.on("close", fail) ?? req.socket.on("close", fail),
  "timer after the answer": (fail, _, res) => res.on("close", () => setTimeout(fail, 1)),
  "timer of a begun answer": (fail, _, response) => {
    (response as ServerResponse).write("begun");
    setTimeout(fail, 1);
  },
};

/** The service fails before it knows the request: at a connection of this address, or at a request that is forwarded for it. */
const brokenAddress = "127.0.0.99";

const logged: { message: string }[] = [];
const log = {
  error: (fields: object, message: string) => void logged.push({ ...fields, message }),
  warn: () => {},
};
let counted = 0;
let stops = 0;
const guard = guardRequests({ host: process as never, log, stop: () => void stops++ });
guard.meter = { unhandledError: () => void counted++ };

const listener = createListener({
  handlers: [
    (req, res) => {
      const place = decodeURIComponent(req.url?.slice(1) ?? "");
      if (place !== "fine") {
        places[place]?.(
          () => {
            throw new Error(`failed: ${place}`);
          },
          req,
          res,
        );
      }
      setTimeout(() => {
        if (!res.writableEnded) {
          (res as ServerResponse).end("x");
        }
      }, 20);
      return true;
    },
  ],
  corsOrigins: [],
  log,
  isRpcPath: () => false,
  reportRefused: () => {},
  refuse: (error, req, res) => sendProblem(req, res, error),
  callerOf: ({ address, forwardedFor }) => {
    if (address === brokenAddress || forwardedFor === brokenAddress) {
      throw new Error("failed: before the request is known");
    }
    return address;
  },
  connectionsPerAddress: Number.POSITIVE_INFINITY,
  callsPerCaller: () => Number.POSITIVE_INFINITY,
  kindOf: () => "call",
  answerProbe: () => false,
  isHeapFull: () => false,
});
const { port } = await listener.listen("127.0.0.1", 0);

const metrics = await openMetricsServer({ print: async () => "" }, { host: "127.0.0.1", port: 0 });
metrics.serveProbes(() => {
  setTimeout(() => {
    throw new Error("failed: a probe of the metrics port");
  });
  return true;
});

process.on("message", (command) => {
  if (command === "throw") {
    setTimeout(() => {
      throw new Error("a fault of the service");
    });
    return;
  }
  const report: Report = { logged: logged.splice(0), counted, stops, isOwned: ownerNow() !== undefined };
  process.send?.(report);
});
process.send?.({ port, metricsUrl: metrics.url, places: Object.keys(places) });
