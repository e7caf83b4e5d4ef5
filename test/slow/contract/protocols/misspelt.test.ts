import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runKibitz } from "../../../cli/run-kibitz.ts";
import { startFen } from "../../../contract/protocols/cases/case.ts";
import { connectBinary } from "../../../contract/protocols/clients/connect.ts";
import { grpcJs } from "../../../contract/protocols/clients/grpc-js.ts";
import { json } from "../../../contract/protocols/clients/json.ts";
import { post } from "../../../contract/protocols/post.ts";
import type { Call, Plain, Protocol } from "../../../contract/protocols/protocol.ts";
import { newest } from "../../../protocols/mcp/agents.ts";
import { createEnginesInProcess } from "../../../support/engines-in-process.ts";
import { useApp } from "../../../support/running-app.ts";

const app = useApp({}, { engines: createEnginesInProcess() });
let protocols: readonly Protocol[] = [];
beforeAll(() => {
  protocols = [json, connectBinary, grpcJs].map((kind) => kind.open(app.url));
});
afterAll(async () => {
  await Promise.all(protocols.map((protocol) => protocol[Symbol.asyncDispose]()));
});

interface Position {
  readonly fen: string;
  readonly moves?: readonly string[];
  readonly search_moves?: readonly string[];
}

const sicilian = "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
const inAddress = sicilian.replaceAll(" ", "_");
const promoting = "3rk3/P3P3/8/8/8/8/8/4K2R w K - 0 1";
const pawnAndBishop = "4k3/8/8/8/2p5/1P6/4B3/4K3 w - - 0 1";
const onlyPawn = "4k3/8/8/8/2p5/1P6/8/2B1K3 w - - 0 1";

const spelled = (sent: readonly string[], read: readonly string[], fen = startFen) =>
  [
    { fen, moves: sent },
    { fen, moves: read },
  ] as const;
const pasted = (fen: string, moves?: readonly string[]) =>
  [{ fen }, { fen: sicilian, ...(moves && { moves }) }] as const;

/** Pairs of a misspelt request and the corrected request. Only one correction of the misspelt request is possible. */
const certain: readonly (readonly [sent: Position, read: Position])[] = [
  spelled(["nf3"], ["Nf3"]),
  spelled(["e4", "e5", "nf3", "NC6", "bc4", "BC5", "o-o"], ["e4", "e5", "Nf3", "Nc6", "Bc4", "Bc5", "O-O"]),
  spelled(["E4", "E7E5", "2.Ng1f3!", "2...n8c6,"], ["e4", "e7e5", "Ng1f3", "N8c6"]),
  spelled(["1. e4", "1... e5", "♘f3", "nc6?!", "Pd4"], ["e4", "e5", "Nf3", "Nc6", "d4"]),
  spelled(["A8(q)"], ["a8=Q"], promoting),
  spelled(["EXD8=n+"], ["exd8=N+"], promoting),
  spelled(["E7D8q"], ["e7d8q"], promoting),
  spelled(["OO"], ["O-O"], promoting),
  spelled(["E1G1"], ["e1g1"], promoting),
  [
    { fen: startFen, moves: ["e4", "e5"], search_moves: ["nf3", "D4", "qh5"] },
    { fen: startFen, moves: ["e4", "e5"], search_moves: ["Nf3", "d4", "Qh5"] },
  ],
  pasted(`position fen ${sicilian}`),
  pasted(sicilian.padEnd(130)),
  pasted(`position fen ${sicilian} moves g1f3 d7d6`, ["g1f3", "d7d6"]),
  pasted(`${sicilian} moves nf3`, ["Nf3"]),
  pasted(`fen ${sicilian}`),
  pasted(`FEN: ${sicilian}`),
  pasted(`**FEN:** \`${sicilian}\``),
  pasted(`"fen": "${sicilian}",`),
  ...[`"`, `'`, "`", "``"].map((quote) => pasted(quote + sicilian + quote)),
  pasted(`“${sicilian}”`),
  pasted(`„${sicilian}“`),
  pasted(`[FEN "${sicilian}"]`),
  pasted(`[SetUp "1"]\n[FEN "${sicilian}"]`),
  pasted(inAddress),
  pasted(sicilian.replaceAll(" ", "%20")),
  pasted(sicilian.replaceAll(" ", "+")),
  pasted(sicilian.replaceAll(" ", "\n")),
  pasted(sicilian.replaceAll(" ", "\u00a0")),
  pasted(sicilian.replaceAll("/", "\\/")),
  pasted(sicilian.replace("-", "–")),
  pasted(`${sicilian}.`),
  pasted(`https://lichess.org/analysis/${inAddress}`),
  pasted(`https://lichess.org/analysis/standard/${inAddress}#3`),
  pasted(`<https://lichess.org/editor/${inAddress}?color=black&variant=standard>`),
  pasted(`https://www.chess.com/analysis?fen=${encodeURIComponent(sicilian)}&flip=false`),
  pasted(`https://www.chess.com/dynboard?board=green&fen=${sicilian.replaceAll(" ", "+")}`),
  pasted(`${"*".repeat(60)}${sicilian}${"*".repeat(60)}`),
  [{ fen: "position startpos moves e2e4" }, { fen: "startpos", moves: ["e2e4"] }],
  [{ fen: "Startpos" }, { fen: "startpos" }],
  [
    { fen: inAddress, moves: ["nf3", "E5"] },
    { fen: sicilian, moves: ["Nf3", "e5"] },
  ],
];

/** Misspelt requests with several possible corrections, or with no possible correction. */
const uncertain: readonly Position[] = [
  { fen: pawnAndBishop, moves: ["bc4"] },
  { fen: onlyPawn, moves: ["Bc4"] },
  { fen: startFen, moves: ["b1c4"] },
  { fen: startFen, moves: ["e4", "nf3"] },
  { fen: startFen, moves: ["1...e4"] },
  { fen: startFen, moves: ["7.e4"] },
  { fen: startFen, moves: ["e4 e5"] },
  { fen: "4k3/8/8/8/8/8/8/RN2KN2 w - - 0 1", moves: ["nd2"] },
  { fen: "4k3/P7/8/8/8/8/8/4K3 w - - 0 1", moves: ["A8"] },
  { fen: startFen, search_moves: ["nf3", "Ke4"] },
  { fen: `the position ${sicilian}, please` },
  { fen: `${sicilian} quit` },
  { fen: `${sicilian}\n${startFen}` },
  { fen: `position fen ${sicilian} moves g1f3`, moves: ["d4"] },
  { fen: `https://lichess.org/analysis/crazyhouse/${inAddress}` },
  { fen: `https://lichess.org/editor/${inAddress}?color=white&variant=atomic` },
  { fen: `https://tablebase.lichess.ovh/antichess?fen=${inAddress}` },
  { fen: `https://explorer.lichess.ovh/lichess?fen=${inAddress}&play=g1f3` },
  { fen: `https://www.chess.com/analysis?fen=${sicilian.replaceAll(" ", "+")}&moveList=mCZR` },
  { fen: `[FEN "${sicilian}"] 1. Nf3` },
  { fen: "x".repeat(200) },
];

const limits = { depth: 1 };
const singles: readonly Call[] = ["evaluate", "findBestMove", "streamEvaluate"];
const callsFor = ({ moves, search_moves: searched }: Position): readonly Call[] =>
  moves && !searched ? [...singles, "reviewGame"] : singles;

/** Sends the request over plain JSON, Connect and gRPC, and returns the suggestions. */
async function suggestionsFor(sent: Position): Promise<readonly unknown[]> {
  const request = { ...sent, ...limits };
  const single = callsFor(sent).flatMap((call) =>
    protocols.map(async (protocol) => {
      const outcome = await protocol.call(call, request as Plain);
      return outcome.kind === "refusal" ? outcome.refusal.suggestion : "an answer";
    }),
  );
  const { body } = await post(`${app.url}/v1/eval/batch`, { requests: [request] });
  const [item] = body as unknown as readonly [{ readonly problem: Plain | null }];
  return Promise.all([...single, item.problem?.suggested_request]);
}

describe.each(certain)("for %j", (sent, read) => {
  test("plain JSON, Connect and gRPC refuse a misspelt request and suggest a valid request", async () => {
    const suggested = { ...read, ...limits };
    const suggestions = await suggestionsFor(sent);
    expect(suggestions).toEqual(suggestions.map(() => suggested));
    for (const call of callsFor(read).filter((call) => call !== "streamEvaluate")) {
      expect(await protocols[0]?.call(call, suggested as Plain)).toMatchObject({ kind: "answer" });
    }
  });

  test("an MCP tool accepts a misspelt request, and the result begins with a note about the correction", async () => {
    const { search_moves: candidates, ...game } = sent;
    const { search_moves: spelt, ...meant } = read;
    const tool = candidates ? "compare_moves" : "analyze_position";
    const agent = await newest.overHttp(app.url);
    const [answer, expected] = await Promise.all([
      agent.ask(tool, { ...game, ...limits, ...(candidates && { candidates }) }),
      agent.ask(tool, { ...meant, ...limits, ...(spelt && { candidates: spelt }) }),
    ]);
    expect([answer.isError, expected.isError], answer.text).toEqual([false, false]);
    expect(answer.structured?.fen).toBe(expected.structured?.fen);
    expect(answer.text).toMatch(/^Note: (?:`fen` was|Moves were) read /);
    expect(answer.structured?.warnings).toContainEqual(expect.stringMatching(/ read /));
    expect(expected.text).not.toContain("was read");
    const tools = candidates ? [] : ["play_moves", ...(meant.moves ? ["review_game"] : [])];
    for (const name of tools) {
      const { isError, structured } = await agent.ask(name, {
        ...game,
        ...(name === "review_game" && limits),
      });
      expect([isError, structured?.fen]).toEqual([false, expected.structured?.fen]);
    }
  });
});

/** The command line separates moves at spaces, so a move that contains a space cannot be sent. */
const typable = certain.filter(([{ moves = [] }]) => !moves.some((move) => move.includes(" ")));

test.each(typable)(
  "the command line refuses a misspelt request with the same suggestion, locally and with a remote service: %j",
  async (sent, read) => {
    const { fen, moves, search_moves: searched } = sent;
    const args = ["eval", fen, "-d", "1", "--json"];
    args.push(...(moves ? ["--moves", moves.join(" ")] : []));
    args.push(...(searched ? ["--search-moves", searched.join(" ")] : []));
    for (const { code, stdout } of [await runKibitz(args), await runKibitz([...args, "--url", app.url])]) {
      expect([code, JSON.parse(stdout).suggested_request]).toEqual([2, { ...read, ...limits }]);
    }
  },
);

test.each(uncertain)(
  "an ambiguous misspelt request is refused without a suggestion over every protocol: %j",
  async (sent) => {
    const found = (await suggestionsFor(sent)).filter((one) => one !== null && one !== undefined);
    const { moves = [] } = sent;
    expect(found).toEqual(
      moves.length > 1 ? Array(3).fill({ ...sent, ...limits, moves: moves.slice(0, -1) }) : [],
    );
    const { search_moves: candidates, ...game } = sent;
    const agent = await newest.overHttp(app.url);
    const tool = candidates ? "compare_moves" : "play_moves";
    const { isError, text } = await agent.ask(tool, { ...game, ...(candidates && { candidates }) });
    expect([isError, text]).toEqual([
      true,
      expect.stringMatching(/^Not answered \((?:illegal_move|invalid_fen)\)/),
    ]);
  },
);

test("spaces around a move are ignored over every protocol", async () => {
  const sent = { fen: startFen, moves: [" e4", "e7e5 "], search_moves: ["Nf3\t", " d4"], ...limits };
  for (const protocol of protocols) {
    expect(await protocol.call("evaluate", sent)).toMatchObject({ kind: "answer" });
    const { moves } = sent;
    expect(await protocol.call("reviewGame", { moves, ...limits })).toMatchObject({ kind: "answer" });
  }
  const agent = await newest.overHttp(app.url);
  const { isError, structured } = await agent.ask("play_moves", { moves: [" e4", "e7e5 "] });
  expect([isError, structured?.warnings]).toEqual([false, []]);
});

test("an MCP tool refuses a list in place of a FEN, and does not analyze the start position", async () => {
  const agent = await newest.overHttp(app.url);
  for (const args of [{ fen: [] }, { fen: [], moves: ["e4"] }]) {
    for (const tool of ["analyze_position", "review_game", "play_moves"]) {
      const { isError, text } = await agent.ask(tool, args);
      expect([isError, text]).toEqual([
        true,
        expect.stringContaining("Not answered (invalid_type): `fen` must"),
      ]);
    }
  }
});
