import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runKibitz } from "../../cli/run-kibitz.ts";
import { describeFakeLc0 } from "../../support/fake-engine/index.ts";
import { useApp } from "../../support/running-app.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { rpcProtocols } from "./all-protocols.ts";
import { mateFen, startFen } from "./cases/case.ts";
import { json } from "./clients/json.ts";

const folder = useTemporaryFolder();
// The only native engine is another one than the latest, which is WebAssembly.
const env = { KIBITZ_ENGINES: describeFakeLc0(folder) };
const app = useApp(env);

const note = /"leela" answers, because the latest, "stockfish-19-lite", cannot run on the path "native" here/;
const warning = { code: "engine_version_differs", message: expect.stringMatching(note), field: "path" };

test.each([json, ...rpcProtocols])(
  "a path on which only another version than the latest runs is answered with a warning through $name",
  async (kind) => {
    await using protocol = kind.open(app.url);
    const native = { path: "native", fen: startFen };
    for (const call of ["evaluate", "findBestMove"] as const) {
      expect(await protocol.call(call, native)).toMatchObject({ answer: { warnings: [warning] } });
    }
    const review = { moves: ["e4"], path: "native" };
    expect(await protocol.call("reviewGame", review)).toMatchObject({
      answer: { review: { warnings: expect.arrayContaining([expect.objectContaining(warning)]) } },
    });
    const chosen = await protocol.call("evaluate", { ...native, engine: "leela" });
    expect(chosen).toMatchObject({ kind: "answer", answer: { engine: { id: "leela" } } });
    expect(JSON.stringify(chosen)).not.toContain("engine_version_differs");
  },
);

test.each(["local", "--url"])(
  "the command line prints that another version than the latest answers, %s",
  async (where) => {
    const kibitz = (...args: readonly string[]) =>
      runKibitz([...args, "--path", "native", ...(where === "local" ? [] : ["--url", app.url])], env);
    for (const command of ["eval", "bestmove"]) {
      expect((await kibitz(command, "startpos")).stdout).toMatch(note);
    }
    const positions = join(folder, "positions.epd");
    writeFileSync(positions, `${startFen}\n${mateFen}\n`);
    const { stdout, stderr } = await kibitz("eval", "--file", positions);
    // The note is about the settings, so one note is enough for all positions.
    expect([stdout.match(note), stderr.match(new RegExp(note, "g"))?.length]).toEqual([null, 1]);
    const game = join(folder, "game.pgn");
    writeFileSync(game, "1. e4 e5 *\n");
    const review = await kibitz("review", game);
    expect((review.stdout + review.stderr).replace(/\s+/g, " ")).toMatch(note);
  },
);
