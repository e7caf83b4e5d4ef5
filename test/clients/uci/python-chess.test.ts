import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { describeWith } from "../../support/needs.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { pythonWithChess } from "../../support/python-chess/python-with-chess.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { type Server, startServer } from "../../support/start-server.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { runProgram } from "../run-program.ts";

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const program = fileURLToPath(new URL("../../../bin/kibitz.js", import.meta.url));
const env = { ...quickestSettings, KIBITZ_DATA_DIR: useTemporaryFolder() };
const kibitzUci = (...args: readonly string[]) => [process.execPath, program, "uci", ...args];

let python: string;
let server: Server;
beforeAll(async () => {
  python = pythonWithChess();
  server = await startServer(env);
  return async () => void (await server.stop());
}, 600_000);

describeWith("python")("python-chess", () => {
  test.each([
    ["in its own process", () => []],
    ["over a service", () => ["--url", server.url]],
  ])("drives kibitz uci %s: options, limits, lines, castling, pondering, stop", async (_, args) => {
    const seen = JSON.parse(await runProgram([python, fileOf("drive.py"), ...kibitzUci(...args())], { env }));
    expect(seen).toMatchObject({
      id: expect.stringMatching(/^Kibitz \d.* \(Stockfish 19 Lite WASM/),
      options: expect.arrayContaining([
        "Hash",
        "MultiPV",
        "Ponder",
        "Skill Level",
        "UCI_Chess960",
        "UCI_Elo",
      ]),
      multipv: [
        [1, 6, expect.any(String)],
        [2, 6, expect.any(String)],
        [3, 6, expect.any(String)],
      ],
      "root moves": ["a2a3", "h2h4"],
      wdl: [expect.any(Number), expect.any(Number), expect.any(Number)],
      mate: 1,
      "weak move is legal": true,
      "limited move is legal": true,
      "stopped moves are legal": true,
      "chess960 castling": ["e1g1", true],
      "ponder hit is legal": true,
    });
    for (const [limit, play] of Object.entries(seen.plays)) {
      expect(play, limit).toMatchObject({ legal: true, complete: true });
    }
    expect(seen.plays.depth.depth).toBe(6);
    expect(seen.plays.nodes.nodes).toBeLessThan(10_000);
    expect(seen["white to move"]).toBeGreaterThan(300);
    expect(seen["black to move"]).toBeLessThan(-300);
    expect(Math.min(...seen["stops ms"])).toBeLessThan(200);
    expect(Math.min(...seen["pings while searching ms"])).toBeLessThan(200);
  });

  test("waits its time for a service that refuses, plays the move it expected, and gets no move without a clock", async () => {
    const plans = usePlansFile({ id: "keyless", limits: { rates: [rateOf("hour", 1, 3600)] } });
    const limited = await startServer({ ...env, KIBITZ_PLANS: plans, KIBITZ_ACCESS: "public" });
    try {
      const command = [python, fileOf("limited.py"), ...kibitzUci("--url", limited.url)];
      const seen = JSON.parse(await runProgram(command, { env }));
      expect(seen).toEqual({
        expected: seen.played,
        played: expect.stringMatching(/^[a-h]\d[a-h]\d$/),
        seconds: expect.any(Number),
        legal: true,
        "analysed to a depth": "None",
        "analysed without end": "None",
        "has a score": false,
      });
      expect(seen.seconds).toBeGreaterThan(0.9);
    } finally {
      await limited.stop();
    }
  });

  test("referees a match of 20 fast games without a forfeit", async () => {
    const commands = [kibitzUci(), kibitzUci("--url", server.url)];
    const arguments_ = ["20", "1.5", "0.02", JSON.stringify(commands), String(server.pid)];
    const games = JSON.parse(await runProgram([python, fileOf("match.py"), ...arguments_], { env }));
    expect(games).toHaveLength(20);
    expect(games.filter((game: object) => "forfeit" in game)).toEqual([]);
  }, 900_000);
});
