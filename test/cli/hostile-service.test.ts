import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
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
import { withoutControls } from "../../src/text/controls.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { runKibitz } from "./run-kibitz.ts";
import { startUci } from "./uci/start-session.ts";

const folder = useTemporaryFolder();
const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** A text with terminal escape sequences in the first line, and a UCI command in the second line. */
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
      violations: [{ pointer: `/${hostile}`, code: "over_plan_limit", message: hostile }],
      suggestedRequest: { fen: hostile },
      upgrade: { plan: hostile, url: hostile },
    }),
    hostile,
  );
const refuse = () => {
  throw refusal();
};

const answering = createServer(
  connectNodeAdapter({
    routes(router) {
      router.service(AnalysisService, {
        evaluate: () => evaluation,
        async *streamEvaluate({ depth }) {
          if (depth === 2) {
            refuse();
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
const refusing = createServer(
  connectNodeAdapter({
    routes(router) {
      router.service(AnalysisService, {
        streamEvaluate: refuse,
        evaluate: refuse,
        evaluateBatch: refuse,
        listEngines: refuse,
      });
      router.service(GameService, { reviewGame: refuse });
    },
  }),
);
const servers = { answering, refusing };

beforeAll(async () => {
  for (const server of Object.values(servers)) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  }
});
afterAll(() => {
  for (const server of Object.values(servers)) {
    server.close();
  }
});
function urlOf(server: Server): string {
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

const positions = join(folder, "positions.epd");
writeFileSync(positions, `${start}\n${start}\n`);
const game = join(folder, "game.pgn");
writeFileSync(game, "1. e4 e5 *\n");

/** Fails if the output contains control characters, or if a line starts with text from the service. */
function expectHarmless(printed: string): void {
  expect(printed).toContain("bestmove forged");
  expect(printed).not.toMatch(/^bestmove forged/m);
  for (const line of printed.split("\n")) {
    expect(withoutControls(line)).toBe(line);
  }
}

const commands = [
  ["eval", start],
  ["bestmove", start],
  ["eval", "--file", positions],
  ["review", game],
  ["engines"],
];
const runs = (["answering", "refusing"] as const).flatMap((kind) =>
  commands.flatMap((args) => [
    { kind, args },
    { kind, args: [...args, "--json"] },
  ]),
);

test.each(runs)(
  "text from the service contains no control characters and never starts a line in the output of kibitz $args: $kind",
  async ({ kind, args }) => {
    const { stdout, stderr } = await runKibitz([...args, "--url", urlOf(servers[kind])]);
    expectHarmless(stdout + stderr);
  },
);

test.each(["answering", "refusing"] as const)(
  "text from the service contains no control characters and never starts a line in the output of kibitz mcp: %s",
  async (kind) => {
    const { say, until, hangUp, ended } = startUci(["--url", urlOf(servers[kind])], "mcp");
    const params = { name: "analyze_position", arguments: { depth: 3 } };
    say(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
    const lines = await until(/"id":1\b/);
    hangUp();
    await ended;
    expectHarmless(lines.join("\n"));
  },
);

test("kibitz uci never prints text from the service as a line of the UCI protocol", async () => {
  const { say, until, hangUp, ended } = startUci(["--url", urlOf(answering)]);
  say("uci", "position startpos", "go depth 1");
  const lines = [...(await until(/^bestmove /))];
  say("go depth 2");
  const afterRefusal = await until(/^bestmove \(none\)/);
  hangUp();
  await ended;
  const refused = startUci(["--url", urlOf(refusing)]);
  const atStart = await refused.until(/^info string /);
  expect(await refused.ended).toBe(2);
  for (const printed of [lines, afterRefusal, atStart]) {
    expectHarmless(printed.join("\n"));
    for (const line of printed) {
      expect(line).toMatch(
        /^(id (name|author) Kibitz|id author the Kibitz|option name |uciok$|info |bestmove (e2e4|\(none\)))/,
      );
    }
  }
});
