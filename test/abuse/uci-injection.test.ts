import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testWith } from "../support/needs.ts";
import { rpcOf } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { startFen, useSharedService } from "./started-service.ts";

const service = useSharedService();

/** An engine that ran the injected commands would write this file. */
const target = join(service.folder, "written-by-an-engine");
const good = "4k3/8/8/8/8/8/8/R3K3 w - - 0 1";

const commands = [
  "quit",
  "stop",
  "go infinite",
  "go perft 7",
  "d",
  "eval",
  "ucinewgame",
  "flip",
  `setoption name Debug Log File value ${target}`,
  `export_net ${target}`,
  "bench 16 1 1 /etc/passwd depth",
  "setoption name Skill Level value 0",
  "position startpos moves e2e4",
];
const breaks = [
  "\n",
  "\r",
  "\r\n",
  "\u000b",
  "\u000c",
  "\0",
  "\u0085",
  "\u2028",
  "\u2029",
  "\\n",
  "%0a",
  ";",
  "&&",
  "|",
];

/** Lists the files in the working directory of the service and its engines. */
const files = () => readdirSync(service.folder, { recursive: true }).toSorted();

describe("10: text of a caller never becomes an engine command", () => {
  test("a UCI command after a FEN is refused, and reaches no engine", async () => {
    const [engines, before] = [service.engines(), files()];
    for (const command of commands) {
      for (const between of breaks) {
        const fen = `${good}${between}${command}`;
        expectProblem(await service.post("/v1/eval", { fen }), { status: 400 }, fen);
      }
    }
    expect(service.engines()).toEqual(engines);
    expect(files()).toEqual(before);
  });

  test.each([
    `${good} moves a1a8`,
    `${good} moves ${"a1a2 e8d8 a2a1 d8e8 ".repeat(2000)}`,
    "fen startpos",
    "startpos w KQkq - 0 1",
    "startpos moves e2e4",
    "4k3/8/8/8/8/8/8/R3K3\nw - - 0 1",
    "4k3/8/8/8/8/8/8/R3K3\tw - - 0 1",
    "4k3/8/8/8/8/8/8/R3K3 w - - 0 1 \n",
    "4k3/8/8/8/8/8/8/R3K3 w - - 0\u00a01",
    `4k3/8/8/8/8/8/8/R3K3 w ${"KQkq".repeat(2000)} - 0 1`,
    "%s%s%n%n/8/8/8/8/8/8/8 w - - 0 1",
    "$(touch x)/8/8/8/8/8/8/8 w - - 0 1",
    "4k3/8/8/8/8/8/8/R3K3 w - - 0 1; go infinite",
  ])("a FEN of unusual form is refused or rewritten, and crashes no engine: %j", async (fen) => {
    const before = service.engines();
    const answer = await service.post("/v1/eval", { fen, depth: 2 });
    if (answer.status === 200) {
      // The service removes white space at the ends of a FEN.
      expect(JSON.parse(answer.body).fen).toBe(good);
    } else {
      expectProblem(answer, { status: 400 }, fen);
    }
    expect(service.engines()).toEqual(before);
  });

  test("a UCI command in a move, engine id, option name or option value is refused, and reaches no engine", async () => {
    const [engines, before] = [service.engines(), files()];
    for (const command of commands) {
      const texts = [command, `\n${command}`, `e2e4\n${command}`, `1\r\n${command}`];
      for (const text of texts) {
        const requests = [
          { fen: startFen, moves: [text] },
          { fen: startFen, moves: ["e2e4", text] },
          { fen: startFen, search_moves: [text] },
          { fen: startFen, engine: text },
          { fen: startFen, engine: `stockfish-19-lite${text}` },
          { fen: startFen, path: text },
          { fen: startFen, options: { [text]: 1 } },
          { fen: startFen, options: { [text]: command } },
          { fen: startFen, options: { skill_level: text } },
          { fen: startFen, options: { uci_chess960: text } },
          { fen: startFen, options: { uci_limit_strength: text } },
        ];
        for (const request of requests) {
          expectProblem(await service.post("/v1/eval", request), { status: 400 }, text);
        }
      }
    }
    expect(service.engines()).toEqual(engines);
    expect(files()).toEqual(before);
  });

  test.each([
    "Debug Log File",
    "debug_log_file",
    "EvalFile",
    "eval_file",
    "EvalFileSmall",
    "SyzygyPath",
    "syzygy_path",
    "Hash",
    "hash",
    "Threads",
    "threads",
    "MultiPV",
    "multi_pv",
    "NumaPolicy",
    "Clear Hash",
    "clear_hash",
    "nodestime",
    "Move Overhead",
    "move_overhead",
    "Ponder",
    "UCI_ShowWDL",
    "Skill Level",
    "skill level",
    "SKILL_LEVEL",
    "skill_level ",
    " skill_level",
    "skill_level\n",
    "skill_level\0",
  ])("the dangerous UCI option %j is refused as an unknown option", async (name) => {
    const before = files();
    for (const engine of ["stockfish-19-lite", "latest"]) {
      for (const value of [target, "/dev/zero", 1, 33_554_432, true, null]) {
        const request = { fen: startFen, engine, options: { [name]: value } };
        expectProblem(await service.post("/v1/eval", request), { status: 400, code: "option_not_allowed" });
        const rpc = await service.post(rpcOf("Evaluate"), request);
        expect(rpc.status).toBe(400);
      }
    }
    expect(files()).toEqual(before);
  });

  testWith("native")(
    "a UCI command in a request for a native engine is refused, and reaches no engine",
    async () => {
      const { engines } = JSON.parse((await service.get("/engines")).body);
      const { id } = engines.find((one: { paths: { path: string }[] }) =>
        one.paths.some(({ path }) => path === "native"),
      );
      const ask = (more: object) =>
        service.post("/v1/eval", { fen: good, depth: 4, engine: id, path: "native", ...more });
      expect((await ask({})).status).toBe(200);
      const [processes, before] = [service.engines(), files()];
      for (const command of commands) {
        expectProblem(await ask({ fen: `${good}\n${command}` }), { status: 400 });
        expectProblem(await ask({ moves: [`a1a2\n${command}`] }), { status: 400 });
        expectProblem(await ask({ options: { skill_level: `1\n${command}` } }), { status: 400 });
        expectProblem(await ask({ options: { "Debug Log File": target } }), { status: 400 });
      }
      expect((await ask({})).status).toBe(200);
      expect(service.engines()).toEqual(processes);
      expect(files()).toEqual(before);
    },
  );
});

test("a UCI command in a header reaches no engine, and cannot forge a log line", async () => {
  const engines = service.engines();
  for (const name of ["X-Request-Id", "User-Agent", "X-Forwarded-For", "Accept", "traceparent", "Origin"]) {
    const headers = { [name]: 'x quit {"level":60} \u009b31m' };
    const answer = await service.post("/v1/eval", { fen: good, depth: 2 }, headers);
    expect([200, 406], name).toContain(answer.status);
    expect(JSON.stringify(answer.headers), name).not.toContain("quit");
  }
  expect(service.engines()).toEqual(engines);
  expect(service.printed()).not.toMatch(/\u009b|"level":60/);
});
