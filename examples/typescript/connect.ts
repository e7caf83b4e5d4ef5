import { durationMs } from "@bufbuild/protobuf/wkt";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { answerText, eventText, italianGame, openings } from "./chess.ts";
import { AnalysisService } from "./gen/chess/analysis/v1/analysis_service_pb.ts";
import { ProblemSchema } from "./gen/chess/analysis/v1/problem_pb.ts";
import { RetryInfoSchema } from "./gen/google/rpc/error_details_pb.ts";

const longestWaitMs = 60_000;

/** Calls a Kibitz service. The same in Node and in a browser: only the transport differs. */
export async function askKibitz(
  transport: Transport,
  key: string | undefined,
  print: (line: string) => void,
): Promise<void> {
  const service = createClient(AnalysisService, transport);
  const keyless = { timeoutMs: 30_000 };
  const withKey = key ? { ...keyless, headers: { Authorization: `Bearer ${key}` } } : keyless;

  await evaluate(italianGame);
  await withRetry(watch);
  await askTooMuch();
  for (const fen of openings) {
    await evaluate(fen);
  }

  async function evaluate(fen: string): Promise<void> {
    print(answerText(await withRetry(() => service.evaluate({ fen, depth: 12 }, withKey))));
  }

  async function watch(): Promise<void> {
    for await (const event of service.streamEvaluate({ fen: italianGame, depth: 16 }, withKey)) {
      print(eventText(event));
    }
  }

  /** Asks for more than callers without a key are allowed, then for as much as they are. */
  async function askTooMuch(): Promise<void> {
    const request = { fen: italianGame, depth: 30, movetimeMs: 1000 };
    try {
      print(answerText(await withRetry(() => service.evaluate(request, keyless))));
    } catch (error) {
      const [problem] = ConnectError.from(error).findDetails(ProblemSchema);
      if (problem?.code !== "upgrade_needed") {
        throw error;
      }
      const depth = Number(problem.errors[0]?.allowed?.maximum);
      print(`${problem.code}, ${problem.nextAction} for more; now depth ${depth}:`);
      print(answerText(await withRetry(() => service.evaluate({ ...request, depth }, keyless))));
    }
  }

  /** Makes a call, and retries it after the delay that the service asks for. */
  async function withRetry<T>(call: () => Promise<T>): Promise<T> {
    while (true) {
      try {
        return await call();
      } catch (error) {
        const [retry] = ConnectError.from(error).findDetails(RetryInfoSchema);
        const waitMs = retry?.retryDelay && durationMs(retry.retryDelay);
        if (waitMs === undefined || waitMs > longestWaitMs) {
          throw error;
        }
        print(`rate limited, waiting ${Math.round(waitMs / 1000)} s`);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    }
  }
}
