import { once } from "node:events";
import { create, type Message } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type EvaluateBatchRequest,
  EvaluateBatchResponseSchema,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Handler } from "../../../src/calls/call.ts";
import { problemMessage } from "../../../src/calls/convert-problem.ts";
import { KibitzError } from "../../../src/errors/errors.ts";
import { type ServedGateway, serveGateway } from "./serve-gateway.ts";

const call = vi.fn<Handler>();

let served: ServedGateway;
beforeAll(async () => {
  served = await serveGateway({}, "http1", { EvaluateBatch: call });
});
afterAll(() => served[Symbol.asyncDispose]());
beforeEach(() => {
  call.mockReset().mockImplementation(async function* (message, { unreadable }) {
    // Answers the last request first.
    for (const [index, { fen }] of [...requestsOf(message).entries()].toReversed()) {
      yield unreadable?.has(index)
        ? refusal(index, new KibitzError("invalid_type", "No request."))
        : answer(index, fen);
    }
  });
});

const requestsOf = (message: Message) => (message as EvaluateBatchRequest).requests;

const answer = (index: number, summary: string) =>
  create(EvaluateBatchResponseSchema, { index, outcome: { case: "result", value: { summary } } });

const refusal = (index: number, error: KibitzError) =>
  create(EvaluateBatchResponseSchema, {
    index,
    outcome: { case: "problem", value: problemMessage(error, "") },
  });

const post = (body: unknown, accept = "*/*") =>
  fetch(`${served.url}/v1/eval/batch`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", accept },
  });

const ndjson = "application/x-ndjson";
const fens = (...names: readonly string[]) => ({ requests: names.map((fen) => ({ fen })) });

interface Item {
  readonly index: number;
  readonly result: { readonly summary: string } | null;
  readonly problem: Record<string, unknown> | null;
}

const short = ({ index, result, problem }: Item) => [index, result?.summary ?? problem?.code];
const array = async (response: Response) => ((await response.json()) as readonly Item[]).map(short);
const lines = async (response: Response) =>
  (await response.text())
    .trimEnd()
    .split("\n")
    .map((line) => short(JSON.parse(line)));

describe("a batch", () => {
  it("a batch gets 406 if the Accept header allows no JSON and no NDJSON", async () => {
    expect((await post(fens("a"), "text/html")).status).toBe(406);
  });
});

describe("an unreadable request in a batch", () => {
  const mixed = {
    requests: [{ fen: "a" }, { fen: "b", deph: 3 }, 7, { fen: "c" }, { depth: "x" }, null, { fen: "d" }],
  };

  it("an invalid request in a batch gets a problem at the index of the request, and the other requests are processed", async () => {
    expect(await array(await post(mixed))).toEqual([
      [0, "a"],
      [1, "invalid_type"],
      [2, "invalid_type"],
      [3, "c"],
      [4, "invalid_type"],
      [5, "invalid_type"],
      [6, "d"],
    ]);
    expect(requestsOf(call.mock.calls[0]?.[0] as Message).map(({ fen }) => fen)).toEqual([
      "a",
      "",
      "",
      "c",
      "",
      "",
      "d",
    ]);
    expect((await lines(await post(mixed, ndjson))).toSorted()).toEqual(await array(await post(mixed)));
  });

  it("the batch handler gets the original JSON of each invalid request", async () => {
    await post(mixed);
    expect(call.mock.calls[0]?.[1].unreadable).toEqual(
      new Map([
        [1, '{"fen":"b","deph":3}'],
        [2, "7"],
        [4, '{"depth":"x"}'],
        [5, "null"],
      ]),
    );
  });
});

describe("an invalid batch", () => {
  it.each<[string, unknown, string, string]>([
    ["where it is no object", [], "", "invalid_type"],
    ["for a field that is not known", { ...fens("a"), rquests: [] }, "/rquests", "unknown_field"],
    ["where its requests are no array", { requests: {} }, "/requests", "invalid_type"],
  ])("an invalid batch is refused: %s", async (_, body, pointer, code) => {
    const response = await post(body);
    expect([response.status, await response.json()]).toMatchObject([400, { code, errors: [{ pointer }] }]);
    expect(call).not.toHaveBeenCalled();
  });

  it("a syntax error in a batch is reported with its position, even after more than 1000 keys", async () => {
    const item = { fen: "a", depth: 1, multipv: 1, engine: "x", path: "native", moves: [] };
    const text = JSON.stringify({ requests: Array(200).fill(item) });
    const response = await fetch(`${served.url}/v1/eval/batch`, {
      method: "POST",
      body: text.replace(/\]\}$/, ",]}"),
      headers: { "Content-Type": "application/json" },
    });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      {
        code: "malformed_json",
        detail: expect.stringMatching(/`\]` at line 1, column \d+, where a value is expected/),
      },
    ]);
  });

  it("a batch that fails before its first result gets an error status, even if one of its requests is invalid", async () => {
    call.mockImplementation(() => {
      throw new KibitzError("overloaded", "busy", { retryAfterMs: 2000 });
    });
    const response = await post({ requests: [{}, { fen: "a" }, 7] }, ndjson);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  });
});

describe("an error after the first result of a batch", () => {
  it.each(["*/*", ndjson])(
    "if a batch fails after the first result, every unanswered request gets the error as its problem, with Accept: %s",
    async (accept) => {
      call.mockImplementation(async function* () {
        yield answer(1, "b");
        throw new KibitzError("shutting_down", "bye");
      });
      const response = await post(fens("a", "b", "c"), accept);
      expect(response.status).toBe(200);
      const items = accept === ndjson ? await lines(response) : await array(response);
      expect(items.toSorted()).toEqual([
        [0, "shutting_down"],
        [1, "b"],
        [2, "shutting_down"],
      ]);
    },
  );
});

it("the abort signal of a batch fires when the caller disconnects", async () => {
  const left = Promise.withResolvers<AbortSignal>();
  call.mockImplementation(async function* (_, { signal }) {
    yield answer(0, "a");
    await once(signal, "abort");
    left.resolve(signal);
  });
  const leave = new AbortController();
  const answered = fetch(`${served.url}/v1/eval/batch`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(fens("a", "b")),
    signal: leave.signal,
  });
  await expect.poll(() => call.mock.calls.length).toBeGreaterThan(0);
  leave.abort();
  // The response headers have arrived before the first heartbeat.
  await expect(answered.then((response) => response.text())).rejects.toThrow("aborted");
  expect((await left.promise).reason).toEqual(new Error("the client disconnected"));
});
