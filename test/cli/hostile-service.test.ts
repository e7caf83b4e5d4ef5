import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Path, StopReason } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  AnalysisService,
  type EvaluateResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { Judgement } from "../../gen/chess/analysis/v1/game_pb.ts";
import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import { KibitzError } from "../../src/errors/errors.ts";
import { connectErrorFrom } from "../../src/protocols/connect/errors.ts";
import { withoutControls } from "../../src/text/plain-text.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { runKibitz } from "./run-kibitz.ts";
import { startUci } from "./uci/start-session.ts";

const folder = useTemporaryFolder();
const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** A text with escape sequences of C0 and C1, and with a line of its own. */
const hostile = "text\u001b[31m\u009b2J\nbestmove forged";

const move = { uci: `e2e4 ${hostile}`, san: hostile, from: "e2", to: "e4", fenAfter: hostile };
const engine = { id: hostile, name: hostile, version: hostile, path: Path.WASM };
const score = { value: { case: "cp" as const, value: 20 }, winPercent: 52 };
const evaluation: MessageInitShape<typeof EvaluateResponseSchema> = {
  fen: start,
  score,
  bestMove: move,
  ponder: move,
  lines: [{ rank: 1, depth: 1, score, moves: [`e2e4 ${hostile}`], san: [hostile] }],
  engine,
  search: { depth: 1, stopReason: StopReason.DEPTH },
  warnings: [{ code: hostile, message: hostile }],
  summary: hostile,
};
const refusal = () =>
  connectErrorFrom(
    new KibitzError("upgrade_needed", hostile, {
      faults: [{ pointer: `/${hostile}`, code: "over_plan_limit", message: hostile }],
      suggestedRequest: { fen: hostile },
      upgrade: { plan: hostile, url: hostile },
    }),
    hostile,
  );

const server = createServer(
  connectNodeAdapter({
    routes(router) {
      router.service(AnalysisService, {
        async *streamEvaluate({ fen }) {
          if (fen === "refused") {
            throw refusal();
          }
          yield { event: { case: "queued", value: { place: 1, expectedWaitMs: 5000 } } };
          yield { event: { case: "evaluation", value: evaluation } };
        },
        async *evaluateBatch({ requests }) {
          for (const index of requests.keys()) {
            yield index === 0
              ? { index, outcome: { case: "result", value: evaluation } }
              : { index, outcome: { case: "problem", value: { code: "invalid_fen", detail: hostile } } };
          }
        },
        listEngines: () => ({
          latest: hostile,
          engines: [
            {
              ...engine,
              latest: true,
              author: hostile,
              optionsSchema: {
                properties: { [hostile]: { type: "boolean", default: true, "x-uci-name": hostile } },
              },
            },
          ],
        }),
      });
      router.service(GameService, {
        async *reviewGame() {
          const best = { move, san: [hostile, hostile] };
          const evaluated = { move, evaluation: score, judgement: Judgement.BLUNDER, best };
          yield {
            event: {
              case: "review",
              value: {
                engine,
                search: {},
                opening: { eco: hostile, name: hostile },
                moves: [evaluated, evaluated],
                tags: { [hostile]: hostile },
                pgn: hostile,
              },
            },
          };
        },
      });
    },
  }),
);
let url = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
});
afterAll(() => void server.close());

const positions = join(folder, "positions.epd");
writeFileSync(positions, `${start}\n${start}\n`);
const game = join(folder, "game.pgn");
writeFileSync(game, "1. e4 e5 *\n");

test.each([
  [["eval", start]],
  [["eval", start, "--json"]],
  [["eval", "refused"]],
  [["eval", "refused", "--json"]],
  [["bestmove", start]],
  [["bestmove", start, "--json"]],
  [["eval", "--file", positions]],
  [["eval", "--file", positions, "--json"]],
  [["review", game]],
  [["review", game, "--json"]],
  [["engines"]],
  [["engines", "--json"]],
])(
  "text of a service is printed without control characters and in no line of its own: kibitz %j",
  async (args) => {
    const { stdout, stderr } = await runKibitz([...args, "--url", url]);
    const printed = stdout + stderr;
    expect(printed).toContain("bestmove forged");
    expect(printed).not.toMatch(/^bestmove forged/m);
    for (const line of printed.split("\n")) {
      expect(withoutControls(line)).toBe(line);
    }
  },
);

test("text of a service is never a line of UCI", async () => {
  const { say, until, hangUp, ended } = startUci(["--url", url]);
  say("uci", "position startpos", "go depth 1");
  const lines = await until(/^bestmove /);
  hangUp();
  await ended;
  expect(lines.join("\n")).toContain("bestmove forged");
  expect(
    lines.filter(
      (line) =>
        !/^(id (name|author) Kibitz|id author the Kibitz|option name |uciok$|info |bestmove e2e4)/.test(line),
    ),
  ).toEqual([]);
  for (const line of lines) {
    expect(withoutControls(line)).toBe(line);
  }
});
