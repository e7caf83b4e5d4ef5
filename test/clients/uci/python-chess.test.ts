import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { describeWith } from "../../support/needs.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { pythonWithChess } from "../../support/python-chess/python-with-chess.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { type Server, startServer } from "../../support/start-server.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { runProgram } from "../run-program.ts";
import { kibitzUci } from "./kibitz-uci.ts";

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const env = { ...quickestSettings, KIBITZ_DATA_DIR: useTemporaryFolder() };

let python: string;
let server: Server;
beforeAll(async () => {
  python = pythonWithChess();
  server = await startServer(env);
  // The first request for the engines is slow, because the service starts each engine to read its options. python-chess would
  // time out.
  await (await fetch(`${server.url}/engines`)).json();
  return async () => void (await server.stop());
}, 600_000);

describeWith("python")("python-chess", () => {
  test.each([
    ["searches in its own process", () => []],
    ["asks a service", () => ["--url", server.url]],
  ])(
    "python-chess can use the options, limits, lines, castling, pondering and stop of a kibitz uci process that %s",
    async (_, args) => {
      const seen = JSON.parse(
        await runProgram([python, fileOf("drive.py"), ...kibitzUci(...args())], { env }),
      );
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
        "a ping ended the search": false,
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
    },
  );

  test("kibitz uci plays a legal move at the end of its time if the service refuses every request", async () => {
    const plans = usePlansFile({ id: "keyless", limits: { rates: [rateOf("hour", 1, 3600)] } });
    const limited = await startServer({ ...env, KIBITZ_PLANS: plans, KIBITZ_ACCESS: "public" });
    try {
      const command = [python, fileOf("limited.py"), ...kibitzUci("--url", limited.url)];
      const seen = JSON.parse(await runProgram(command, { env }));
      expect(seen).toEqual({
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
});
