import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gameFromPgn } from "../../../web/src/game/pgn.ts";
import { foundGames } from "../../../web/src/input/found-games.ts";
import { runKibitz } from "../../cli/run-kibitz.ts";
import { rpcProtocols } from "../../contract/protocols/all-protocols.ts";
import { json } from "../../contract/protocols/clients/json.ts";
import type { Protocol } from "../../contract/protocols/protocol.ts";
import { gameWithLine, headerLines, pawnEnding } from "../../game/header-lines.ts";
import { type Agent, newest } from "../../protocols/mcp/agents.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const app = useApp({}, { engines: createEnginesInProcess() });
const folder = useTemporaryFolder();
const blackTag = (fen: string | undefined) => [fen, "B"];

describe.each([json, ...rpcProtocols])("$name", (kind) => {
  let protocol: Protocol;
  beforeAll(() => {
    protocol = kind.open(app.url);
  });
  afterAll(() => protocol[Symbol.asyncDispose]());

  test("a line between tags that cannot be read never changes the position of a review", async () => {
    for (const [line, named] of headerLines) {
      const outcome = await protocol.call("reviewGame", { pgn: gameWithLine(line), depth: 1 });
      if (named === undefined) {
        expect(outcome, line).toMatchObject({
          answer: { review: { start_fen: pawnEnding, tags: { Event: "x", Black: "B" } } },
        });
      } else {
        expect(outcome, line).toMatchObject({
          refusal: { code: "invalid_pgn", violations: [{ pointer: "/pgn", token: named, line: 3 }] },
        });
      }
    }
  });
});

test.each(["review_game", "analyze_position"])(
  "the MCP tool %s never reads a game from another position because of a line between its tags",
  async (tool) => {
    const agent: Agent = await newest.overHttp(app.url);
    for (const [line, named] of headerLines) {
      const { isError, text, structured } = await agent.ask(tool, { pgn: gameWithLine(line), depth: 1 });
      expect(isError, text).toBe(named !== undefined);
      if (named === undefined) {
        expect(structured?.fen).toBe("4k3/8/8/8/4P3/8/8/4K3 b - - 0 1");
      } else {
        expect(text).toContain("line 3");
      }
    }
  },
);

test("kibitz review reads each game with a line between its tags from its own position, or refuses the game", async () => {
  mkdirSync(join(folder, "games"));
  for (const [index, [line]] of headerLines.entries()) {
    writeFileSync(join(folder, "games", `${String(index).padStart(2, "0")}.pgn`), gameWithLine(line));
  }
  const output = join(folder, "reviewed.pgn");
  const args = ["review", "--url", app.url, "--depth", "1", "--output", output, join(folder, "games")];
  const { code, stderr } = await runKibitz(args);
  const refused = headerLines.filter(([, named]) => named !== undefined).length;
  expect(code).toBe(2);
  expect(stderr).toContain(`${headerLines.length} games, ${refused} refused`);
  const { stdout } = await runKibitz([
    "review",
    "--url",
    app.url,
    "--depth",
    "1",
    "--json",
    join(folder, "games"),
  ]);
  const answers = stdout.split("\n").flatMap((line) => (line ? [JSON.parse(line)] : []));
  const read = answers.flatMap(({ start_fen: fen, tags }) => (fen ? [[fen, tags.Black]] : []));
  expect(read).toEqual(
    headerLines.flatMap(([, named]) => (named === undefined ? [blackTag(pawnEnding)] : [])),
  );
});

test("the page finds one game in a text with a line between its tags, and reads this game from its own position", async () => {
  for (const [line, named] of headerLines) {
    const games = await foundGames(gameWithLine(line));
    expect(games).toHaveLength(1);
    const read = gameFromPgn(games[0]?.text ?? "");
    expect(read.kind, line).toBe(named === undefined ? "game" : "violations");
    if (read.kind === "game") {
      expect(blackTag(read.game.start.position.fen)).toEqual([pawnEnding, read.game.tags.get("Black")]);
    }
  }
});
