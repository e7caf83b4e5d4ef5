import { expect, test } from "vitest";
import { descendantsOf } from "../../engine/processes.ts";
import { runKibitz } from "../run-kibitz.ts";
import { startUci } from "./start-session.ts";

test("kibitz uci searches, castles in Chess960 notation, stops and quits", async () => {
  const { say, until, ended } = startUci();
  say("uci", "isready");
  const greeting = await until(/^readyok$/);
  expect(greeting[0]).toMatch(/^id name Kibitz \d.* \(Stockfish 19 Lite WASM\)$/);
  expect(greeting).toContain("option name Skill Level type spin default 20 min 0 max 20");
  expect(greeting.at(-2)).toBe("uciok");
  const engines = descendantsOf(process.pid);

  say("setoption name MultiPV value 2", "setoption name UCI_ShowWDL value true");
  say("position startpos moves e2e4", "go depth 6");
  const lines = await until(/^bestmove /);
  const info = /^info depth \d+ seldepth \d+ multipv [12] score cp -?\d+ wdl \d+ \d+ \d+ nodes \d+ nps \d+ /;
  expect(lines.slice(0, -1).filter((line) => !info.test(line))).toEqual([]);
  expect(lines.at(-2)).toMatch(
    /^info depth 6 .* multipv 2 .* hashfull \d+ tbhits 0 time \d+ pv( [a-h]\d[a-h]\d)+$/,
  );
  expect(lines.at(-1)).toMatch(/^bestmove [a-h]7[a-h]\d ponder|^bestmove [bg]8/);

  say("setoption name MultiPV value 1", "setoption name UCI_Chess960 value true");
  say("position fen 4k3/8/8/8/8/8/5PPP/4K2R w K - 0 1", "go depth 1 searchmoves e1h1");
  expect((await until(/^bestmove /)).at(-1)).toMatch(/^bestmove e1h1\b/);

  say("setoption name UCI_Chess960 value false", "position startpos");
  say("go infinite");
  await until(/^info depth 3 /);
  say("stop");
  await until(/^bestmove /);

  // The next search uses the same engine process, even if the process is still stopping. Starting another process would take
  // longer.
  say("go depth 2");
  await until(/^bestmove /);
  expect(descendantsOf(process.pid)).toEqual(engines);

  say("go infinite", "quit");
  await until(/^bestmove /);
  expect(await ended).toBe(0);
});

test("kibitz uci executes all commands before the end of standard input, and then exits with 0", async () => {
  const { say, until, hangUp, ended } = startUci();
  say("position fen 6k1/5ppp/8/8/8/8/5PPP/4R1K1 b - - 0 1 moves g8h8", "go mate 1", "isready");
  hangUp();
  await until(/^readyok$/);
  expect((await until(/^bestmove /)).at(-1)).toMatch(/^bestmove e1e8/);
  expect(await ended).toBe(0);
});

test.each([
  [["--engine", "stockfish-3"], 2, /"stockfish-3"/],
  [["now"], 2, /uci takes no arguments/],
])("kibitz uci %s fails before it prints a greeting", async (args, code, complaint) => {
  const finished = await runKibitz(["uci", ...args], {}, ["uci\n"]);
  expect(finished).toMatchObject({ code, stderr: expect.stringMatching(complaint) });
  expect(finished.stdout).not.toContain("uciok");
});
