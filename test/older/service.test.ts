import { expect, test } from "vitest";
import { useApp } from "../support/running-app.ts";

const app = useApp();

test("an older engine version is listed after the newest version, and can analyse a position", async () => {
  const listed = (await (await fetch(`${app.url}/engines`)).json()) as { engines: { id: string }[] };
  const ids = listed.engines.map(({ id }) => id);
  expect(ids).toEqual(["stockfish-19", "stockfish-19-lite", "stockfish-18", "stockfish-18-lite"]);
  const answer = await fetch(`${app.url}/v1/eval`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      fen: "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1",
      engine: "stockfish-18-lite",
      depth: 8,
    }),
  });
  expect(await answer.json()).toMatchObject({
    engine: { id: "stockfish-18-lite", version: "18", path: "wasm" },
    best_move: { san: "Re8#" },
  });
});
