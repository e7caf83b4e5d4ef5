import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { benchPositions } from "../../bench/positions.ts";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { goTraffic } from "../clients/languages/go.ts";

/** Callers that make one call after another, until they are stopped. */
export interface Traffic {
  readonly counts: Readonly<Counts>;
  /** The error that the caller of each failed call saw. A refusal is a failure, whatever its reason. */
  readonly failures: readonly string[];
  /** For each call, the milliseconds from the question to its answer. */
  readonly tookMs: readonly number[];
  /** Lets the calls under way end. */
  stop(): Promise<void>;
}

interface Counts {
  calls: number;
  failed: number;
}

/** How all calls of one kind ended. */
export type Outcome = Pick<Counts, "calls"> & Pick<Traffic, "failures">;

/** One call; its answer in a few words, that any node would give. Rejects with what the caller saw. */
export type Ask = (question: Question) => Promise<string>;

export interface Question {
  readonly fen: string;
  readonly depth: number;
  /** The service's default if unset. */
  readonly engine?: string;
}

const positions = benchPositions();
let asked = 0;

/** Never the same twice, because two equal questions share a search: the number of the move differs. */
export function nextQuestion(depth: number, engine?: string): Question {
  const at = asked++;
  const { fen } = positions[at % positions.length] ?? { fen: "startpos" };
  const move = 1 + (Math.floor(at / positions.length) % 9999);
  return { fen: fen.replace(/\d+$/, String(move)), depth, ...(engine !== undefined && { engine }) };
}

/** Starts a caller for each of `asks`, which never makes a failed call again. */
export function startTraffic(asks: readonly Ask[], question: () => Question): Traffic {
  const counts: Counts = { calls: 0, failed: 0 };
  const failures: string[] = [];
  const tookMs: number[] = [];
  let going = true;
  const callers = asks.map(async (ask) => {
    while (going) {
      counts.calls++;
      const askedAt = performance.now();
      await ask(question()).catch((error: Error) => {
        counts.failed++;
        failures.push(error.message);
      });
      tookMs.push(performance.now() - askedAt);
    }
  });
  return {
    counts,
    failures,
    tookMs,
    async stop() {
      going = false;
      await Promise.all(callers);
    },
  };
}

interface Answer {
  readonly best_move: { readonly uci: string };
  readonly score: object;
}

/** Plain JSON over HTTP/1.1, on connections that are kept. */
export function jsonCaller(url: string, path = "/v1/eval"): Ask {
  const agent = new Agent({ keepAlive: true });
  return async (question) => {
    const call = request(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      agent,
    });
    call.end(JSON.stringify(question));
    const [response] = (await once(call, "response")) as [IncomingMessage];
    const body = await text(response);
    if (response.statusCode !== 200) {
      throw new Error(`json: ${response.statusCode} ${body.slice(0, 300)}`);
    }
    const { best_move, score } = JSON.parse(body) as Answer;
    return `${best_move.uci} ${JSON.stringify(score)}`;
  };
}

/** The policy of retries that the documentation of gRPC shows. */
const retries = JSON.stringify({
  methodConfig: [
    {
      name: [{ service: AnalysisService.typeName }],
      retryPolicy: {
        maxAttempts: 4,
        initialBackoff: "0.1s",
        maxBackoff: "1s",
        backoffMultiplier: 2,
        retryableStatusCodes: ["UNAVAILABLE"],
      },
    },
  ],
});

/** grpc-js with its usual policy of retries: all calls over one connection. */
export function grpcCaller(url: string): Ask & Disposable {
  const client = new Client(new URL(url).host, credentials.createInsecure(), {
    // Every caller has a connection of its own.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.service_config": retries,
  });
  const { parent, name, input, output } = AnalysisService.method.evaluate;
  const ask: Ask = (question) =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        `/${parent.typeName}/${name}`,
        (message: typeof question) => Buffer.from(toBinary(input, create(input, message))),
        (bytes: Buffer) => fromBinary(output, bytes),
        question,
        (error: ServiceError | null, answer) =>
          error
            ? reject(new Error(`grpc: ${error.message}`))
            : resolve(`${answer?.bestMove?.uci} ${answer?.score?.value.value}`),
      );
    });
  return Object.assign(ask, { [Symbol.dispose]: () => client.close() });
}

/**
 * Starts callers of grpc-go with its usual policy of retries, all over one connection.
 *
 * @returns ends them, and says what became of their calls
 */
export function startGoTraffic(
  url: string,
  callers: number,
  question: () => Question,
): () => Promise<Outcome> {
  const child = spawn(goTraffic, [new URL(url).host, String(callers)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.write(JSON.stringify(Array.from({ length: 5000 }, question)));
  const printed = text(child.stdout);
  return async () => {
    child.stdin.end();
    return JSON.parse(await printed) as Outcome;
  };
}
