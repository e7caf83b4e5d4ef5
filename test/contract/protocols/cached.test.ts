import { expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";

const app = useApp({}, { engines: createEnginesInProcess({ nodesAPly: 400 }) });

interface Answer {
  readonly id: string;
  readonly search: { readonly cached: boolean; readonly queue_ms: number };
  readonly warnings: readonly { readonly code: string }[];
}

async function ask(request: object): Promise<Answer> {
  const response = await fetch(`${app.url}/v1/eval`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

const fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";

test("a repeated request gets the cached answer with a new id", async () => {
  const { id, search, ...first } = await ask({ fen, depth: 9 });
  const again = await ask({ fen, depth: 9 });
  expect(search.cached).toBe(false);
  expect(again).toEqual({
    ...first,
    id: expect.any(String),
    search: { ...search, cached: true, queue_ms: 0 },
  });
  expect(again.id).not.toBe(id);
});

test("a request for a cached position in another notation gets the cached answer with warnings about the request's notation", async () => {
  const first = await ask({ fen, depth: 8 });
  const other = await ask({
    fen: fen.replace(" - 3 3", " e6 3 3").replace("b KQkq e6", "b KQkq e3"),
    depth: 8,
  });
  expect(first.warnings).toEqual([]);
  expect(other.search.cached).toBe(true);
  expect(other.warnings.map(({ code }) => code)).toEqual(["ep_square_removed"]);
});
