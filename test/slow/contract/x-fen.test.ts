import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gameFromFen } from "../../../web/src/game/game.ts";
import { runKibitz } from "../../cli/run-kibitz.ts";
import { rpcProtocols } from "../../contract/protocols/all-protocols.ts";
import { grpcJs } from "../../contract/protocols/clients/grpc-js.ts";
import { json } from "../../contract/protocols/clients/json.ts";
import type { Call, Plain, Protocol } from "../../contract/protocols/protocol.ts";
import { newest } from "../../protocols/mcp/agents.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const app = useApp({}, { engines: createEnginesInProcess() });
const folder = useTemporaryFolder();

/** A Chess960 start as python-chess and Lichess write it, and the same position in a Shredder-FEN. */
const xFen = "bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1";
const shredder = xFen.replace("KQkq", "GDgd");
const standard = xFen.replace("KQkq", "-");
/** The rights fit neither standard chess nor X-FEN, but the castling move is legal in Chess960. */
const castlingFen = "r3k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w KQkq - 0 1";
const afterCastling = "r3k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R3RK1 b ga - 1 1";

interface Read {
  readonly name: string;
  readonly request: Plain;
  readonly fen: string;
  readonly warning: string;
}

const reads: readonly Read[] = [
  { name: "an X-FEN", request: { fen: xFen }, fen: shredder, warning: "chess960_assumed" },
  {
    name: "an X-FEN with moves",
    request: { fen: xFen, moves: ["f2f3"] },
    fen: "bqnrnkrb/pppppppp/8/8/8/5P2/PPPPP1PP/BQNRNKRB b GDgd - 0 1",
    warning: "chess960_assumed",
  },
  {
    name: "a castling move that needs the rights",
    request: { fen: castlingFen, moves: ["O-O"] },
    fen: afterCastling,
    warning: "chess960_assumed",
  },
  {
    name: "an X-FEN with the option uci_chess960 set to false",
    request: { fen: xFen, options: { uci_chess960: false } },
    fen: standard,
    warning: "castling_rights_removed",
  },
];

const isOfRights = (code: string) => code === "chess960_assumed" || code === "castling_rights_removed";
const codesOf = (warnings: unknown) =>
  (warnings as readonly { readonly code: string }[]).map(({ code }) => code).filter(isOfRights);

describe.each([json, ...rpcProtocols])("$name", (kind) => {
  let protocol: Protocol;
  beforeAll(() => {
    protocol = kind.open(app.url);
  });
  afterAll(() => protocol[Symbol.asyncDispose]());

  async function answerTo(call: Call, request: Plain): Promise<Plain> {
    const outcome = await protocol.call(call, request);
    return outcome.kind === "answer" ? outcome.answer : expect.fail(JSON.stringify(outcome));
  }

  // The client of plain JSON reads no streams. The test below reads the stream of plain JSON.
  const calls = ["evaluate", "findBestMove", ...(kind === json ? [] : ["streamEvaluate"])] as readonly Call[];
  test.each(calls)("%s reads a Chess960 position by the rule for X-FEN", async (call) => {
    for (const { name, request, fen, warning } of reads) {
      const answer = await answerTo(call, { ...request, depth: 2 });
      const evaluation = (answer.evaluation ?? answer) as Plain;
      expect([evaluation.fen, codesOf(evaluation.warnings)], name).toEqual([fen, [warning]]);
      expect(evaluation.chess960 ?? false).toBe(warning === "chess960_assumed");
    }
  });

  test("a batch reads a Chess960 position by the rule for X-FEN", async () => {
    // The client of grpc-js converts options only of a single request.
    const sent = reads.filter(({ request }) => kind !== grpcJs || !request.options);
    for (const { name, request, fen, warning } of sent) {
      const answer = await answerTo("evaluateBatch", { requests: [{ ...request, depth: 2 }] });
      const { result } = (answer[0] ?? answer) as Plain;
      const { fen: read, warnings } = result as Plain;
      expect([read, codesOf(warnings)], name).toEqual([fen, [warning]]);
    }
  });

  test("a review reads a Chess960 position by the rule for X-FEN", async () => {
    const castling = castlingFen.replace("KQkq", "GBga");
    for (const [request, fen, variant] of [
      [{ fen: xFen, moves: ["f3"] }, shredder, "chess960"],
      [{ pgn: `[FEN "${xFen}"]\n\n1. f3` }, shredder, "chess960"],
      [{ fen: castlingFen, moves: ["O-O"] }, castling, "chess960"],
      [{ pgn: `[FEN "${castlingFen}"]\n\n1. O-O` }, castling, "chess960"],
      [{ fen: castlingFen, moves: ["a3"] }, castlingFen.replace("KQkq", "q"), "standard"],
    ] as const) {
      const { review } = await answerTo("reviewGame", { ...request, depth: 1 });
      const { start_fen: start, variant: read, warnings } = review as Plain;
      expect([start, read]).toEqual([fen, variant]);
      expect(codesOf(warnings)).toEqual([
        variant === "chess960" ? "chess960_assumed" : "castling_rights_removed",
      ]);
    }
  });
});

test("the stream of plain JSON reads a Chess960 position by the rule for X-FEN", async () => {
  for (const { request, fen, warning } of reads) {
    const response = await fetch(`${app.url}/v1/eval/stream`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...request, depth: 2 }),
    });
    const [, data = ""] = /^event: done\ndata: (.*)$/m.exec(await response.text()) ?? [];
    const { fen: read, warnings } = JSON.parse(data);
    expect([read, codesOf(warnings)]).toEqual([fen, [warning]]);
  }
});

test.each(["analyze_position", "play_moves", "compare_moves"])(
  "the MCP tool %s reads a Chess960 position by the rule for X-FEN, or by its argument",
  async (tool) => {
    const agent = await newest.overHttp(app.url);
    const candidates = tool === "compare_moves" ? { candidates: ["a6", "b6", "a3", "b3"].slice(0) } : {};
    for (const { name, request, fen, warning } of reads) {
      const { options, ...rest } = request as { readonly options?: Plain };
      const turn = fen.split(" ")[1] === "w" ? ["a3", "b3"] : ["a6", "b6"];
      const { text, structured } = await agent.ask(tool, {
        ...rest,
        ...(options && { chess960: options.uci_chess960 }),
        ...("candidates" in candidates && { candidates: turn }),
      });
      expect(structured?.fen, `${name}: ${text}`).toBe(fen);
      expect(text).toMatch(warning === "chess960_assumed" ? /was read as Chess960/ : /were removed/);
    }
    const { structured } = await agent.ask(tool, {
      fen: "startpos",
      chess960: true,
      ...("candidates" in candidates && { candidates: ["a3", "b3"] }),
    });
    expect(structured?.fen).toBe("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1");
  },
);

test("the MCP tool review_game reads a Chess960 position by the rule for X-FEN, or by its argument", async () => {
  const agent = await newest.overHttp(app.url);
  const review = async (args: Plain) =>
    (await agent.ask("review_game", { depth: 1, ...args })).structured?.fen;
  expect(await review({ fen: xFen, moves: ["f3"] })).toContain(" GDgd ");
  expect(await review({ fen: xFen, moves: ["f3"], chess960: false })).toContain(" - ");
  expect(await review({ fen: castlingFen, moves: ["O-O"] })).toBe(afterCastling);
});

test("kibitz eval reads a Chess960 position by the rule for X-FEN, on the command line and in an EPD file", async () => {
  const evaluate = async (...args: readonly string[]) =>
    JSON.parse((await runKibitz(["eval", ...args, "--url", app.url, "--depth", "2", "--json"])).stdout);
  const one = await evaluate(xFen);
  expect([one.fen, codesOf(one.warnings)]).toEqual([shredder, ["chess960_assumed"]]);
  const moved = await evaluate(castlingFen, "--moves", "O-O");
  expect([moved.fen, codesOf(moved.warnings)]).toEqual([afterCastling, ["chess960_assumed"]]);
  const removed = await evaluate(xFen, "--option", "uci_chess960=false");
  expect([removed.fen, codesOf(removed.warnings)]).toEqual([standard, ["castling_rights_removed"]]);
  const file = join(folder, "positions.epd");
  writeFileSync(file, `${xFen.replace(" 0 1", "")} id "960";\n`);
  const { result } = await evaluate("--file", file);
  expect([result.fen, codesOf(result.warnings)]).toEqual([
    shredder,
    expect.arrayContaining(["chess960_assumed"]),
  ]);
});

test("the page reads a Chess960 position by the rule for X-FEN", () => {
  for (const [fen, moves, start] of [
    [xFen, [], shredder],
    [castlingFen, ["O-O"], castlingFen.replace("KQkq", "GBga")],
    [castlingFen, ["a3"], castlingFen.replace("KQkq", "q")],
  ] as const) {
    const read = gameFromFen(fen, moves);
    expect(read.kind === "game" && read.game.start.position.fen).toBe(start);
    expect(read.kind === "game" && read.refused).toBeUndefined();
  }
});
