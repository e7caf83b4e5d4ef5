import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { askAgain, createNewDepths, type Failure } from "./ask-again.ts";
import { answerText, eventText, foolsMate, italianGame, openings } from "./chess.ts";
import { AnalysisService } from "./gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "./gen/chess/analysis/v1/game_service_pb.ts";
import { ProblemSchema } from "./gen/chess/analysis/v1/problem_pb.ts";
import { RetryInfoSchema } from "./gen/google/rpc/error_details_pb.ts";

/** Calls a Kibitz service. The same in Node and in a browser: only the transport differs. */
export async function askKibitz(
  transport: Transport,
  key: string | undefined,
  print: (line: string) => void,
): Promise<void> {
  const service = createClient(AnalysisService, transport);
  const games = createClient(GameService, transport);
  const keyless = { timeoutMs: 30_000 };
  const withKey = key ? { ...keyless, headers: { Authorization: `Bearer ${key}` } } : keyless;

  await evaluate(italianGame);
  await watch();
  await withRetry(review);
  await askTooMuch();
  for (const fen of openings) {
    await evaluate(fen);
  }

  async function evaluate(fen: string): Promise<void> {
    print(answerText(await withRetry(() => service.evaluate({ fen, depth: 12 }, withKey))));
  }

  async function watch(): Promise<void> {
    const isNew = createNewDepths();
    await withRetry(async () => {
      for await (const event of service.streamEvaluate({ fen: italianGame, depth: 16 }, withKey)) {
        if (event.event.case !== "evaluation" || isNew(event.event.value.search?.depth ?? 0)) {
          print(eventText(event));
        }
      }
    });
  }

  /** Each move comes as soon as it is ready, the whole review last. */
  async function review(): Promise<void> {
    for await (const { event } of games.reviewGame({ pgn: foolsMate, depth: 10 }, withKey)) {
      if (event.case === "review") {
        print(`review: ${event.value.summary}`);
      }
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
      print(
        `without a key: ${problem.code}, ${problem.nextAction} for more; asking for depth ${depth}, 1 s:`,
      );
      print(answerText(await withRetry(() => service.evaluate({ ...request, depth }, keyless))));
    }
  }

  function withRetry<T>(call: () => Promise<T>): Promise<T> {
    return askAgain(call, failureOf, print);
  }
}

function failureOf(error: unknown): Failure {
  const failed = ConnectError.from(error);
  const [retry] = failed.findDetails(RetryInfoSchema);
  if (retry?.retryDelay) {
    return { kind: "limited", waitMs: durationMs(retry.retryDelay) };
  }
  // What the service says carries a problem; that the deadline has passed is said here.
  const isSaid = failed.findDetails(ProblemSchema).length > 0 || failed.code === Code.DeadlineExceeded;
  return { kind: isSaid ? "refused" : "lost" };
}
