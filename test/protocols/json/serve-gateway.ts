import { createServer, type Server } from "node:http";
import { createServer as createServer2, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import { KeyService } from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import { localAccount } from "../../../src/access/account.ts";
import type { Handler } from "../../../src/calls/call.ts";
import type { UnaryHandler } from "../../../src/calls/create-calls.ts";
import { checkRules } from "../../../src/calls/rules.ts";
import { errorFromViolations, type Violation } from "../../../src/errors/errors.ts";
import { type BodyBudget, createBodyBudget } from "../../../src/http/body-budget.ts";
import type { NodeRequest, NodeResponse, RequestHandler } from "../../../src/http/message.ts";
import { type Log, silentLog } from "../../../src/log/log.ts";
import { createGateway } from "../../../src/protocols/json/gateway.ts";
import { identifyRequest } from "../../../src/request/context.ts";
import { type BeginWork, createTimeSlicer } from "../../../src/thread/time-slices.ts";

export const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

export const heartbeatMs = 50;

/** A JSON gateway on a free port, with handlers that a test defines by method name. */
export interface ServedGateway extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly entries: { readonly entered: number; readonly refused: number };
  readonly logged: readonly object[];
}

export interface MadeUpCalls {
  readonly calls?: Readonly<Record<string, UnaryHandler>>;
  readonly streams?: Readonly<Record<string, Handler>>;
  readonly entered?: () => void | Promise<void>;
  readonly refused: () => Promise<unknown>;
  readonly log?: Pick<Log, "error">;
  readonly beginWork?: BeginWork;
  readonly bodies?: BodyBudget;
}

export function madeUpGateway({
  calls = {},
  streams = {},
  entered,
  refused,
  log = silentLog,
  beginWork = createTimeSlicer(),
  bodies = createBodyBudget(),
}: MadeUpCalls): RequestHandler {
  return createGateway({
    log,
    services: [AnalysisService, GameService, KeyService],
    async admitCall() {
      await entered?.();
      return {
        account: localAccount,
        check() {},
        countAsAnalysis() {},
        async refused(error) {
          await refused();
          return error;
        },
      };
    },
    beginWork,
    calls: {
      unary: (method) => expect.fail(`${method.name} was called`),
      stream: (method) =>
        streams[method.name] ??
        (method.methodKind === "unary"
          ? async function* (message, call) {
              yield await (calls[method.name] ?? (async () => create(method.output)))(message, call);
            }
          : () => expect.fail(`${method.name} was called`)),
    },
    heartbeatMs,
    async validate(message, { input }) {
      const violations = checkRules(message, input);
      if (violations.length > 0) {
        throw errorFromViolations(violations);
      }
    },
    bodies,
  });
}

export async function serveGateway(
  calls: Readonly<Record<string, UnaryHandler>>,
  protocol: "http1" | "h2c" = "http1",
  streams: Readonly<Record<string, Handler>> = {},
): Promise<ServedGateway> {
  const entries = { entered: 0, refused: 0 };
  const logged: object[] = [];
  const gateway = madeUpGateway({
    calls,
    streams,
    entered: () => void entries.entered++,
    refused: async () => void entries.refused++,
    log: { error: (fields) => void logged.push(fields) },
  });
  const listener = (req: NodeRequest, res: NodeResponse) => {
    identifyRequest(req, () => false);
    if (gateway(req, res)) {
      return;
    }
    res.statusCode = 404;
    res.end();
  };
  const server = protocol === "h2c" ? createServer2(listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    entries,
    logged,
    [Symbol.asyncDispose]: () => close(server),
  };
}

function close(server: Server | Http2Server): Promise<void> {
  if ("closeAllConnections" in server) {
    server.closeAllConnections();
  }
  return new Promise((resolve) => server.close(() => resolve()));
}

export const depthViolation: Violation = {
  pointer: "/depth",
  code: "out_of_range",
  message: "`depth` must be from 1 to 30.",
  allowed: { minimum: 1, maximum: 30 },
};
