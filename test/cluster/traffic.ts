import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { benchPositions } from "../../bench/positions.ts";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { goTraffic } from "../clients/languages/go.ts";

/** What callers do without end: a call behind a call. */
export interface Traffic {
  readonly counts: Readonly<Counts>;
  /** Of every call that failed: what its caller saw. */
  readonly failures: readonly string[];
  /** Of every call, in milliseconds. */
  readonly tookMs: readonly number[];
  /** Lets the calls under way end. */
  stop(): Promise<void>;
}

interface Counts {
  calls: number;
  failed: number;
  /** How often a call was made again because no node had time to read it. */
  starved: number;
}

/**
 * Whether all that were asked had no time even to read the call. Nodes of one machine have no more of it than others leave
 * them, whatever becomes of one of them.
 */
export const isStarved = (failure: string) => failure.includes("too busy to read this request");

/** What became of all calls of some kind. */
export interface Outcome {
  readonly calls: number;
  /** Of every call that failed: what its caller saw. */
  readonly failures: readonly string[];
  /** How often a call found no node that had time to read it. */
  readonly starved: number;
}

/** One call; its answer in a few words, that any node would give. Rejects with what the caller saw. */
export type Ask = (question: Question) => Promise<string>;

export interface Question {
  readonly fen: string;
  readonly depth: number;
}

const positions = benchPositions();
let asked = 0;

/** Never the same twice, or two would share a search: the number of the move differs. */
export function nextQuestion(depth: number): Question {
  const at = asked++;
  const { fen } = positions[at % positions.length] ?? { fen: "startpos" };
  return { fen: fen.replace(/\d+$/, String(1 + (Math.floor(at / positions.length) % 9999))), depth };
}

/**
 * Callers of one kind who never ask twice, whatever happens.
 *
 * @param pauseMs between an answer and the next call: without it, they take all that the machine has
 * @param isForgiven whether a call that failed so is made again, and only counted
 */
export function startTraffic(
  asks: readonly Ask[],
  depth: number,
  pauseMs = 0,
  isForgiven: (failure: string) => boolean = () => false,
): Traffic {
  const counts: Counts = { calls: 0, failed: 0, starved: 0 };
  const failures: string[] = [];
  const tookMs: number[] = [];
  let going = true;
  const callers = asks.map(async (ask) => {
    while (going) {
      const question = nextQuestion(depth);
      counts.calls++;
      let askedAt = performance.now();
      for (let failure = await failureOf(ask, question); failure !== undefined; ) {
        if (!isForgiven(failure)) {
          counts.failed++;
          failures.push(failure);
          break;
        }
        counts.starved++;
        await sleep(500);
        askedAt = performance.now();
        failure = await failureOf(ask, question);
      }
      tookMs.push(performance.now() - askedAt);
      if (pauseMs > 0) {
        await sleep(pauseMs);
      }
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

const failureOf = (ask: Ask, question: Question): Promise<string | undefined> =>
  ask(question).then(
    () => undefined,
    (error: Error) => error.message,
  );

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

/** As in the documentation of gRPC. */
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
 * grpc-go with its usual policy of retries: all callers over one connection.
 *
 * @returns ends it, and tells what became of its calls
 */
export function startGoTraffic(
  url: string,
  callers: number,
  depth: number,
  pauseMs = 0,
): () => Promise<Outcome> {
  const child = spawn(goTraffic, [new URL(url).host, String(callers), `${pauseMs}ms`], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.write(JSON.stringify(Array.from({ length: 5000 }, () => nextQuestion(depth))));
  const printed = text(child.stdout);
  return async () => {
    child.stdin.end();
    const { calls, failures } = JSON.parse(await printed) as Pick<Outcome, "calls" | "failures">;
    const others = failures.filter((failure) => !isStarved(failure));
    return { calls, failures: others, starved: failures.length - others.length };
  };
}
