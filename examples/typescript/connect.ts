import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { answerText, eventText, foolsMate, italianGame, openings, pawnEnding, tableText } from "./chess.ts";
import { AnalysisService } from "./gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "./gen/chess/analysis/v1/game_service_pb.ts";
import { ProblemSchema } from "./gen/chess/analysis/v1/problem_pb.ts";
import { RetryInfoSchema } from "./gen/google/rpc/error_details_pb.ts";
import { callWithRetry, createNewDepths, type Failure } from "./retry.ts";

/** Sends the example requests to a Kibitz service. Node and browsers use different transports. */
export async function callKibitz(
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
  await exceedPlan();
  for (const fen of [pawnEnding, italianGame]) {
    await lookUp(fen);
  }
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

  /** Prints the summary. The stream first sends each move when its review is ready, and at the end the complete review. */
  async function review(): Promise<void> {
    for await (const { event } of games.reviewGame({ pgn: foolsMate, depth: 10 }, withKey)) {
      if (event.case === "review") {
        print(`review: ${event.value.summary}`);
      }
    }
  }

  /** Requests a depth that needs an API key. After the refusal, requests the maximum depth without a key. */
  async function exceedPlan(): Promise<void> {
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

  /** Prints what the endgame tables of the service know of a position. If no table knows the position, evaluates it. */
  async function lookUp(fen: string): Promise<void> {
    try {
      print(tableText(await withRetry(() => service.probeTablebase({ fen }, withKey))));
    } catch (error) {
      const [problem] = ConnectError.from(error).findDetails(ProblemSchema);
      if (problem?.code !== "not_in_tablebase") {
        throw error;
      }
      print(`${problem.code}: ${problem.nextAction}`);
      await evaluate(fen);
    }
  }

  function withRetry<T>(call: () => Promise<T>): Promise<T> {
    return callWithRetry(call, failureOf, print);
  }
}

function failureOf(error: unknown): Failure {
  const failed = ConnectError.from(error);
  const [retry] = failed.findDetails(RetryInfoSchema);
  if (retry?.retryDelay) {
    return { kind: "limited", waitMs: durationMs(retry.retryDelay) };
  }
  // Errors of the service contain a `Problem`. `DEADLINE_EXCEEDED` is an error of the client, and a retry would not help.
  const isFinal = failed.findDetails(ProblemSchema).length > 0 || failed.code === Code.DeadlineExceeded;
  return { kind: isFinal ? "refused" : "lost" };
}
