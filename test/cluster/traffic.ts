import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { benchPositions } from "../../bench/positions.ts";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { goTraffic } from "../clients/languages/go.ts";

interface Traffic {
  readonly counts: Readonly<Counts>;
  /** The errors of all failed calls. A refused call is a failed call. */
  readonly failures: readonly string[];
  readonly tookMs: readonly number[];
  /** Waits until the running calls have ended. */
  stop(): Promise<void>;
}

interface Counts {
  calls: number;
  failed: number;
}

export type Outcome = Pick<Counts, "calls"> & Pick<Traffic, "failures">;

/** Resolves with the best move and the score. Rejects if the call fails. */
export type Ask = (question: Question) => Promise<string>;

export interface Question {
  readonly fen: string;
  readonly depth: number;
  readonly engine?: string;
}

const positions = benchPositions();
let asked = 0;

/** Each question has a different position, because equal questions would share a search. */
export function nextQuestion(depth: number, engine?: string): Question {
  const at = asked++;
  const { fen } = positions[at % positions.length] ?? { fen: "startpos" };
  const move = 1 + (Math.floor(at / positions.length) % 9999);
  return { fen: fen.replace(/\d+$/, String(move)), depth, ...(engine !== undefined && { engine }) };
}

/** Starts one caller for each element of `asks`. A caller does not retry a failed call. */
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

/** The retry policy that the documentation of gRPC recommends. */
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

/** Creates a gRPC caller with one connection and a retry policy. */
export function grpcCaller(url: string): Ask & Disposable {
  const client = new Client(new URL(url).host, credentials.createInsecure(), {
    // Without this option, all callers would share a connection.
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
 * Starts gRPC callers in Go, with one connection and a retry policy.
 * @returns a function that stops the callers and returns the number of calls and the failures
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
