import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { anyUnpack, durationMs } from "@bufbuild/protobuf/wkt";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { answerText, eventText, foolsMate, italianGame, openings, pawnEnding, tableText } from "./chess.ts";
import { AnalysisService } from "./gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "./gen/chess/analysis/v1/game_service_pb.ts";
import { ProblemSchema } from "./gen/chess/analysis/v1/problem_pb.ts";
import { RetryInfoSchema } from "./gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "./gen/google/rpc/status_pb.ts";
import { callWithRetry, createNewDepths, type Failure } from "./retry.ts";

const [address = "http://localhost:8080"] = process.argv.slice(2);
const client = new Client(new URL(address).host, credentials.createInsecure());
const { evaluate, probeTablebase, streamEvaluate } = AnalysisService.method;
const { reviewGame } = GameService.method;
const keyless = new Metadata();
const withKey = new Metadata();
if (process.env.KIBITZ_API_KEY) {
  withKey.set("authorization", `Bearer ${process.env.KIBITZ_API_KEY}`);
}

await printBestMove({ fen: italianGame, depth: 12 });
await watch();
await withRetry(review);
await exceedPlan();
for (const fen of [pawnEnding, italianGame]) {
  await lookUp(fen);
}
for (const fen of openings) {
  await printBestMove({ fen, depth: 12 });
}
client.close();

type Request = MessageInitShape<typeof evaluate.input>;

async function printBestMove(request: Request, metadata = withKey): Promise<void> {
  console.log(answerText(await withRetry(() => call(evaluate, request, metadata))));
}

async function watch(): Promise<void> {
  const isNew = createNewDepths();
  await withRetry(async () => {
    for await (const event of callForStream(streamEvaluate, { fen: italianGame, depth: 16 }, withKey)) {
      if (event.event.case !== "evaluation" || isNew(event.event.value.search?.depth ?? 0)) {
        console.log(eventText(event));
      }
    }
  });
}

/** Prints the summary. The stream first sends each move when its review is ready, and at the end the complete review. */
async function review(): Promise<void> {
  for await (const { event } of callForStream(reviewGame, { pgn: foolsMate, depth: 10 }, withKey)) {
    if (event.case === "review") {
      console.log(`review: ${event.value.summary}`);
    }
  }
}

/** Requests a depth that needs an API key. After the refusal, requests the maximum depth without a key. */
async function exceedPlan(): Promise<void> {
  const request = { fen: italianGame, depth: 30, movetimeMs: 1000 };
  try {
    await printBestMove(request, keyless);
  } catch (error) {
    const problem = detailOf(error, ProblemSchema);
    if (problem?.code !== "upgrade_needed") {
      throw error;
    }
    const depth = Number(problem.errors[0]?.allowed?.maximum);
    console.log(
      `without a key: ${problem.code}, ${problem.nextAction} for more; asking for depth ${depth}, 1 s:`,
    );
    await printBestMove({ ...request, depth }, keyless);
  }
}

/** Prints what the endgame tables of the service know of a position. If no table knows the position, evaluates it. */
async function lookUp(fen: string): Promise<void> {
  try {
    console.log(tableText(await withRetry(() => call(probeTablebase, { fen }, withKey))));
  } catch (error) {
    const problem = detailOf(error, ProblemSchema);
    if (problem?.code !== "not_in_tablebase") {
      throw error;
    }
    console.log(`${problem.code}: ${problem.nextAction}`);
    await printBestMove({ fen, depth: 12 });
  }
}

function withRetry<T>(attempt: () => Promise<T>): Promise<T> {
  return callWithRetry(attempt, failureOf, console.log);
}

function failureOf(error: unknown): Failure {
  const delay = detailOf(error, RetryInfoSchema)?.retryDelay;
  if (delay) {
    return { kind: "limited", waitMs: durationMs(delay) };
  }
  // Errors of the service contain a `Problem`. `DEADLINE_EXCEEDED` is an error of the client, and a retry would not help.
  const isFinal = detailOf(error, ProblemSchema) || (error as ServiceError).code === status.DEADLINE_EXCEEDED;
  return { kind: isFinal ? "refused" : "lost" };
}

/** Returns the error detail of the given type, or undefined. */
function detailOf<Desc extends DescMessage>(error: unknown, desc: Desc): MessageShape<Desc> | undefined {
  const [status] = (error as ServiceError).metadata?.get("grpc-status-details-bin") ?? [];
  return status instanceof Uint8Array
    ? fromBinary(StatusSchema, status)
        .details.map((detail) => anyUnpack(detail, desc))
        .find((detail) => detail !== undefined)
    : undefined;
}

// The functions below send messages of @bufbuild/protobuf with @grpc/grpc-js. They work for every service.

function call<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  metadata: Metadata,
): Promise<MessageShape<O>> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(...callArguments(method, request, metadata), (error, answer) =>
      error ? reject(error) : resolve(answer as MessageShape<O>),
    );
  });
}

function callForStream<I extends DescMessage, O extends DescMessage>(
  method: DescMethodServerStreaming<I, O>,
  request: MessageInitShape<I>,
  metadata: Metadata,
): AsyncIterable<MessageShape<O>> {
  return client.makeServerStreamRequest(...callArguments(method, request, metadata));
}

function callArguments<I extends DescMessage, O extends DescMessage>(
  { parent, name, input, output }: DescMethodUnary<I, O> | DescMethodServerStreaming<I, O>,
  request: MessageInitShape<I>,
  metadata: Metadata,
) {
  return [
    `/${parent.typeName}/${name}`,
    (message: MessageShape<I>) => Buffer.from(toBinary(input, message)),
    (bytes: Buffer) => fromBinary(output, bytes),
    create(input, request),
    metadata,
    { deadline: Date.now() + 30_000 },
  ] as const;
}
