import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { EvaluateBatchResponseSchema } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Handler } from "../../../src/calls/call.ts";
import { KibitzError } from "../../../src/errors/errors.ts";
import { type ServedGateway, serveGateway } from "./serve-gateway.ts";

const call = vi.fn<Handler>();

let served: ServedGateway;
beforeAll(async () => {
  served = await serveGateway({}, "http1", { EvaluateBatch: call });
});
afterAll(() => served[Symbol.asyncDispose]());
beforeEach(() => {
  call.mockReset();
});

const answer = (index: number, summary: string) =>
  create(EvaluateBatchResponseSchema, { index, outcome: { case: "result", value: { summary } } });

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
