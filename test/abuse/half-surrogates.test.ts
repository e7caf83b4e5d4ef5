import { describe, expect, test } from "vitest";
import { envelope } from "../support/envelope.ts";
import { matedFen, rpcOf } from "./calls.ts";
import { useSharedService } from "./started-service.ts";
import { codeOf, type Sent, type WayIn, waysIn } from "./ways-in.ts";

const service = useSharedService();

const half = String.raw`\ud800`;
/** An emoji whose first half is the last character that an error repeats. */
const cut = `${"x".repeat(62)}😀${"x".repeat(9)}`;

type Row = readonly [name: string, call: Sent["call"], message: string, code: string];

function rowsOf(text: string): readonly Row[] {
  return [
    ["an unknown key", "evaluate", `{"fen":"startpos","depth":1,"${text}":1}`, "unknown_field"],
    [
      "a key of options",
      "evaluate",
      `{"fen":"startpos","depth":1,"options":{"${text}":1}}`,
      "option_not_allowed",
    ],
    [
      "a value of options",
      "evaluate",
      `{"fen":"startpos","options":{"skill_level":"${text}"}}`,
      "invalid_option",
    ],
    ["the FEN", "evaluate", `{"fen":"${text}"}`, "invalid_fen"],
    ["a move", "evaluate", `{"fen":"startpos","moves":["${text}"]}`, "illegal_move"],
    ["a search move", "evaluate", `{"fen":"startpos","search_moves":["${text}"]}`, "illegal_move"],
    ["an engine", "evaluate", `{"fen":"startpos","engine":"${text}"}`, "unknown_engine"],
    ["the PGN", "reviewGame", `{"pgn":"1. Qa${text}"}`, "invalid_pgn"],
    ["a key beside the PGN", "reviewGame", `{"pgn":"1. e4","${text}":1}`, "unknown_field"],
  ];
}

const rows = [
  ...rowsOf(half),
  ...rowsOf(cut)
    .filter(([name]) => name !== "an engine")
    .map(([name, ...more]) => [`${name}, cut`, ...more] as const),
];
const jsonWays = waysIn.filter(({ name }) => !/binary|MCP|^gRPC$|^gRPC-Web$/.test(name));

async function sentOver(way: WayIn, call: Sent["call"], message: string): Promise<string> {
  const [answer = ""] = await way.send(service.url, { call, message }, 1, { localAddress: "127.0.0.1" });
  return answer;
}

describe("37: half of a surrogate pair gets the error of its field", () => {
  describe.each(jsonWays)("$name", (way) => {
    test.each(rows.filter(([, call]) => way.calls.includes(call)))(
      `half of a surrogate pair in %s over ${way.name} gets the error of its field`,
      async (_, call, message, code) => {
        const answer = await sentOver(way, call, message);
        expect(codeOf(answer), answer).toBe(code);
      },
    );
  });

  test.each(jsonWays.filter(({ calls }) => calls.includes("evaluateBatch")))(
    "half of a surrogate pair in one item of a batch over $name touches no other item",
    async (way) => {
      const good = `{"fen":"${matedFen}"}`;
      const bad = [`{"fen":"${half}"}`, `{"fen":"startpos","options":{"${half}":1}}`, `{"fen":"${cut}"}`];
      const answer = await sentOver(way, "evaluateBatch", `{"requests":[${[good, ...bad, good].join()}]}`);
      expect(answer.match(/"summary"/g), answer).toHaveLength(2);
      expect(answer).not.toMatch(/internal/i);
    },
  );

  test("half of a surrogate pair in an unknown key of one item touches no other item", async () => {
    const { status, body } = await service.post(
      "/v1/eval/batch",
      `{"requests":[{"fen":"${matedFen}"},{"fen":"startpos","${half}":1},{"fen":"${matedFen}"}]}`,
    );
    const items = JSON.parse(body) as { problem?: { code: string } | null }[];
    expect([status, items.map(({ problem }) => problem?.code)]).toEqual([
      200,
      [undefined, "unknown_field", undefined],
    ]);
  });

  test.each([
    ["the name of a key", "/v1/keys", `{"name":"${half}"}`],
    ["a key of the request", "/v1/keys", `{"${half}":1}`],
    ["the name of a key over Connect", rpcOf("CreateKey", "KeyService"), `{"name":"${half}"}`],
  ])("half of a surrogate pair in %s is no failure of the service", async (_, path, body) => {
    const { status } = await service.post(path, body);
    expect([400, 403]).toContain(status);
  });

  test.each([
    ["the query of a Connect call", `${rpcOf("Evaluate")}?encoding=json&message=%7B%22%5Cud800%22:1%7D`, 400],
    ["the message of a query", `${rpcOf("Evaluate")}?encoding=json&message=%ED%A0%80`, 400],
    ["a parameter", "/price?%ED%A0%80=1", 400],
    ["a value of a parameter", "/price?depth=%ED%A0%80", 400],
    ["a path", "/v1/%ED%A0%80", 404],
  ])("half of a surrogate pair in %s gets a status of the caller's error", async (_, path, status) => {
    expect((await service.get(path)).status).toBe(status);
  });

  test.each([
    ["a key of the arguments", `{"fen":"${matedFen}","${half}":1}`],
    ["an argument", `{"fen":"${half}"}`],
    ["a move", `{"fen":"startpos","moves":["${half}"]}`],
    ["an argument of a text", JSON.stringify(`{"fen":"${half}"}`)],
  ])("half of a surrogate pair in %s of an MCP tool gets an answer without a failure", async (_, args) => {
    const call = `{"jsonrpc":"2.0","id":"${half}","method":"tools/call","params":{"name":"analyze_position","arguments":${args}}}`;
    const { status, body } = await service.post("/mcp", call);
    expect(status).toBe(200);
    expect(body).toContain('"isError":true');
    expect(body).not.toMatch(/internal|\\ud8/);
    expect(JSON.parse(body)).toMatchObject({ id: "\ufffd" });
  });

  test("half of a surrogate pair in the names of an MCP message gets an error of the caller", async () => {
    for (const call of [
      `{"jsonrpc":"2.0","id":1,"method":"${half}"}`,
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${half}"}}`,
      `{"jsonrpc":"2.0","id":1,"${half}":1,"method":"tools/list"}`,
    ]) {
      expect((await service.post("/mcp", call)).status).toBeLessThan(500);
    }
  });
});

describe("38: bytes that are not UTF-8 are refused in every protocol", () => {
  const bytes = Buffer.concat([Buffer.from('{"fen":"'), Buffer.of(0xed, 0xa0, 0x80), Buffer.from('"}')]);

  test.each([
    ["plain JSON", "/v1/eval", "application/json", bytes],
    ["Connect JSON", rpcOf("Evaluate"), "application/json", bytes],
    ["a Connect stream", rpcOf("StreamEvaluate"), "application/connect+json", envelope(bytes)],
    ["gRPC-Web with JSON", rpcOf("Evaluate"), "application/grpc-web+json", envelope(bytes)],
  ])("a JSON message over %s that is not UTF-8 is refused", async (_, path, type, body) => {
    const { headers, body: answer } = await service.post(path, body, { "content-type": type });
    expect(codeOf(`${JSON.stringify(headers)}${answer}`)).toBe("malformed_json");
  });

  test.each(["gRPC with JSON", "gRPC"])("a message over %s that is not UTF-8 is refused", async (name) => {
    const way = waysIn.find((one) => one.name === name) ?? expect.fail();
    // Field 1 of AnalysisRequest is the FEN.
    const message = name === "gRPC" ? Buffer.of(0x0a, 3, 0xed, 0xa0, 0x80) : bytes;
    const answer = await way.send(service.url, { call: "evaluate", message }, 1, {
      localAddress: "127.0.0.1",
    });
    expect(["malformed_json", "invalid_type", "invalid_fen"]).toContain(codeOf(answer[0] ?? ""));
  });
});
