import { setTimeout as sleep } from "node:timers/promises";
import { create, createFileRegistry, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectError, createClient } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { file_google_rpc_error_details } from "../../../gen/google/rpc/error_details_pb.ts";
import {
  ServerReflection,
  type ServerReflectionRequestSchema,
  type ServerReflectionResponse,
} from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionV1alpha } from "../../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { createReflection } from "../../../src/services/tools/reflection.ts";
import { transportTo } from "../../support/transport-to.ts";

type Question = NonNullable<MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"]>;
type Answer = ServerReflectionResponse["messageResponse"];

const versions = [ServerReflection, ServerReflectionV1alpha as unknown as typeof ServerReflection];

function start(lifeMs?: number, version = versions[0] ?? expect.fail()) {
  const stopping = new AbortController();
  const implementations = createReflection({
    services: [AnalysisService, ...versions],
    files: [file_google_rpc_error_details],
    stopping: stopping.signal,
    addressOf: ({ address }) => address,
    ...(lifeMs !== undefined && { lifeMs }),
  });
  const client = createClient(version, transportTo(implementations));
  return { stop: () => stopping.abort(), client };
}

async function ask(questions: readonly Question[], version = versions[0]): Promise<readonly Answer[]> {
  const { client } = start(undefined, version);
  const requests = (async function* () {
    for (const messageRequest of questions) {
      yield { host: "here", messageRequest };
    }
  })();
  const answers = await Array.fromAsync(client.serverReflectionInfo(requests));
  expect(answers.map(({ validHost }) => validHost)).toEqual(questions.map(() => "here"));
  expect(answers.map(({ originalRequest }) => originalRequest?.messageRequest.case)).toEqual(
    questions.map((question) => question.case),
  );
  return answers.map(({ messageResponse }) => messageResponse);
}

const filesIn = (answer: Answer | undefined) =>
  answer?.case === "fileDescriptorResponse"
    ? answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes))
    : expect.fail(JSON.stringify(answer));
const namesIn = (answer: Answer | undefined) => filesIn(answer).map(({ name }) => name);

const analysis = "chess/analysis/v1/analysis.proto";
const analysisService = "chess/analysis/v1/analysis_service.proto";
const problem = "chess/analysis/v1/problem.proto";
const symbol = (value: string): Question => ({ case: "fileContainingSymbol", value });
const named = (value: string): Question => ({ case: "fileByFilename", value });
const extension = (containingType: string, extensionNumber: number): Question => ({
  case: "fileContainingExtension",
  value: { containingType, extensionNumber },
});

describe.each(versions)("$typeName", (version) => {
  test("gRPC reflection sends the file of a service with all its imports", async () => {
    const [answer] = await ask([symbol(AnalysisService.typeName)], version);
    const file = filesIn(answer);
    expect(file[0]?.name).toBe(analysisService);
    // Throws if an import is missing or comes after the file that imports it.
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: file.toReversed() }));
    expect(registry.getService(AnalysisService.typeName)?.proto).toEqual(AnalysisService.proto);
    expect(registry.getMessage("buf.validate.FieldRules")).toBeDefined();
    expect(registry.getMessage("google.api.HttpRule")).toBeDefined();
    expect(registry.getMessage("google.protobuf.MethodOptions")).toBeDefined();
  });
});

test.each([
  ["a service", "chess.analysis.v1.AnalysisService", analysisService],
  ["a method", "chess.analysis.v1.AnalysisService.FindBestMove", analysisService],
  ["a message", "chess.analysis.v1.AnalysisRequest", analysis],
  ["a field", "chess.analysis.v1.AnalysisRequest.fen", analysis],
  ["a choice", "chess.analysis.v1.Score.value", analysis],
  ["an enum", "chess.analysis.v1.Path", analysis],
  ["an enum value", "chess.analysis.v1.PATH_WASM", analysis],
  ["a nested message", "google.rpc.BadRequest.FieldViolation", "google/rpc/error_details.proto"],
  [
    "a nested enum value",
    "google.protobuf.FieldDescriptorProto.TYPE_INT32",
    "google/protobuf/descriptor.proto",
  ],
  ["an extension", "google.api.http", "google/api/annotations.proto"],
])("gRPC reflection finds the file that declares %s", async (_, name, file) => {
  const [answer] = await ask([symbol(name)]);
  expect(namesIn(answer)[0]).toBe(file);
});

test("gRPC reflection finds extensions by number, and lists all extension numbers of a message", async () => {
  const [byNumber, numbers, none] = await ask([
    extension("google.protobuf.MethodOptions", 72295728),
    { case: "allExtensionNumbersOfType", value: "google.protobuf.FieldOptions" },
    { case: "allExtensionNumbersOfType", value: "chess.analysis.v1.Move" },
  ]);
  expect(namesIn(byNumber)).toEqual([
    "google/api/annotations.proto",
    "google/protobuf/descriptor.proto",
    "google/api/http.proto",
  ]);
  expect(numbers).toMatchObject({
    case: "allExtensionNumbersResponse",
    value: { baseTypeName: "google.protobuf.FieldOptions", extensionNumber: [1159, 1160, 78641] },
  });
  expect(none).toMatchObject({ case: "allExtensionNumbersResponse", value: { extensionNumber: [] } });
});

test("gRPC reflection sends an imported file once in a stream, and a requested file each time", async () => {
  const answers = await ask([named(problem), named(analysisService), named(problem)]);
  expect(namesIn(answers[0])).toEqual([problem, "google/protobuf/struct.proto"]);
  expect(namesIn(answers[1])).toContain(analysis);
  expect(namesIn(answers[1])).not.toContain(problem);
  expect(namesIn(answers[2])).toEqual([problem]);
});

describe("an unknown name", () => {
  test.each<[string, Question, Code, string]>([
    ["a file", named("nope.proto"), Code.NotFound, 'There is no file "nope.proto" here.'],
    ["a symbol", symbol("chess.Nope"), Code.NotFound, 'There is no symbol "chess.Nope" here.'],
    [
      "a long symbol",
      symbol("x".repeat(60_000)),
      Code.NotFound,
      `There is no symbol "${"x".repeat(64)}"… here.`,
    ],
    [
      "an extension",
      extension("google.protobuf.MethodOptions", -1),
      Code.NotFound,
      'There is no extension -1 of "google.protobuf.MethodOptions" here.',
    ],
    [
      "a message",
      { case: "allExtensionNumbersOfType", value: "chess.analysis.v1.Path" },
      Code.NotFound,
      'There is no message "chess.analysis.v1.Path" here.',
    ],
    [
      "nothing",
      { case: undefined },
      Code.InvalidArgument,
      "The request is empty: set one field of message_request.",
    ],
  ])(
    "a gRPC reflection request for %s gets an error, and the next request of the stream is answered",
    async (_, question, errorCode, errorMessage) => {
      const [refused, answered] = await ask([question, named(problem)]);
      expect(refused).toMatchObject({ case: "errorResponse", value: { errorCode, errorMessage } });
      expect(namesIn(answered)).toContain(problem);
    },
  );
});

describe("a reflection stream", () => {
  const forever = async function* (signal?: AbortSignal) {
    yield { messageRequest: named(problem) };
    await new Promise((resolve) => signal?.addEventListener("abort", resolve));
  };
  const endless = async function* () {
    for (;;) {
      yield { messageRequest: named(problem) };
      await new Promise(setImmediate);
    }
  };
  const paced = async function* () {
    for await (const request of endless()) {
      yield request;
      await sleep(20);
    }
  };

  test.each([
    ["with a silent client", forever],
    ["with a request every 20 ms", paced],
  ])("a gRPC reflection stream %s is closed at its timeout", async (_, requests) => {
    const { client } = start(200);
    const answers = await Array.fromAsync(client.serverReflectionInfo(requests()));
    expect(answers.length).toBeGreaterThan(0);
  });

  test("a gRPC reflection stream is refused after 200 answers", async () => {
    const { client } = start();
    let answers = 0;
    const readAll = async () => {
      for await (const _ of client.serverReflectionInfo(endless())) {
        answers++;
      }
    };
    await expect(readAll()).rejects.toMatchObject({ code: Code.ResourceExhausted });
    expect(answers).toBe(200);
  });

  test("when the server stops, open gRPC reflection streams end, and new streams end immediately", async () => {
    const { client, stop } = start();
    const stream = client.serverReflectionInfo(forever())[Symbol.asyncIterator]();
    await stream.next();
    stop();
    expect(await stream.next()).toMatchObject({ done: true });
    const late = client.serverReflectionInfo(forever())[Symbol.asyncIterator]();
    expect(await late.next()).toMatchObject({ done: true });
  });

  test("a gRPC reflection stream is refused while its address has five other streams", async () => {
    const { client } = start();
    const leaving = new AbortController();
    const others = Array.from({ length: 5 }, () =>
      client.serverReflectionInfo(forever(), { signal: leaving.signal })[Symbol.asyncIterator](),
    );
    await Promise.all(others.map((stream) => stream.next()));
    const one = () => client.serverReflectionInfo(forever())[Symbol.asyncIterator]().next();
    await expect(one()).rejects.toMatchObject({ code: Code.Unavailable });
    const ends = others.map((stream) => stream.next());
    leaving.abort();
    await Promise.allSettled(ends);
    await expect.poll(() => one()).toMatchObject({ done: false });
  });

  test("a gRPC reflection stream whose deadline passes ends with deadline_exceeded", async () => {
    const { client } = start();
    const stream = client.serverReflectionInfo(forever(), { timeoutMs: 50 })[Symbol.asyncIterator]();
    await stream.next();
    const error: ConnectError = await stream.next().catch((thrown) => thrown);
    expect(error.code).toBe(Code.DeadlineExceeded);
  });
});
