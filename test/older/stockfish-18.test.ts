import { expect, test } from "vitest";
import { createWasmBackend } from "../../src/engine/backends/wasm/index.ts";
import { selfTest } from "../../src/engine/self-test.ts";
import { testBackend } from "../contract/backend.ts";
import { useApp } from "../support/running-app.ts";

const settings = { hashMb: 16, threads: 1 };
const forever = new AbortController().signal;

testBackend("Stockfish 18, lite network", (times) => createWasmBackend(settings, times), {
  pickBuild: (builds) => builds.find(({ id }) => id === "stockfish-18-lite"),
  depth: 10,
});

test.each(["stockfish-18", "stockfish-18-lite"])(
  "%s visits the nodes that the table of builds says",
  async (id) => {
    const backend = createWasmBackend(settings);
    const build =
      (await backend.discover(forever)).find((one) => one.id === id) ?? expect.fail(`${id} is not installed`);
    await using session = await backend.start(build, forever);
    expect(session.info.name).toBe(build.name);
    expect(await selfTest(session, 1, forever)).toBe(build.selfTestNodes);
  },
);

const app = useApp();

test("an older version is listed behind the newest and can be asked", async () => {
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
