import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { testWith } from "../../support/needs.ts";
import { pythonWithChess } from "../../support/python-chess/python-with-chess.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { startServer } from "../../support/start-server.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { runProgram } from "../run-program.ts";
import { kibitzUci } from "./kibitz-uci.ts";

const env = { ...quickestSettings, KIBITZ_WASM_BUILD: "fast", KIBITZ_DATA_DIR: useTemporaryFolder() };
const match = fileURLToPath(new URL("match.py", import.meta.url));

testWith("python")(
  "no game is lost by a rule violation in 20 fast games between kibitz uci and kibitz uci --url",
  async () => {
    const server = await startServer(env);
    try {
      // The first request for the engines is slow, because the service starts each engine to read its options.
      await (await fetch(`${server.url}/engines`)).json();
      const commands = JSON.stringify([kibitzUci(), kibitzUci("--url", server.url)]);
      const printed = await runProgram(
        [pythonWithChess(), match, "20", "1.5", "0.02", commands, String(server.pid)],
        { env },
      );
      const games = JSON.parse(printed);
      expect(games).toHaveLength(20);
      expect(games.filter((game: object) => "forfeit" in game)).toEqual([]);
    } finally {
      await server.stop();
    }
  },
);
