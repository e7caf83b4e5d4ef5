import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startFen } from "../../contract/protocols/cases/case.ts";
import { post } from "../../contract/protocols/post.ts";
import {
  diskIsFull,
  folderIsUnreachable,
  mountSmallDisk,
  noFileGrowsBeyond,
} from "../../faults/shortages.ts";
import { rowsWith } from "../../support/needs.ts";
import { patienceMs } from "../../support/patience.ts";
import { useApp } from "../../support/running-app.ts";
import { serve } from "../../support/served.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const home = useTemporaryFolder();
const depth = 8;
/** The start position with different move numbers, which are different positions for an engine. */
const positions = Array.from({ length: 12 }, (_, index) => startFen.replace(/1$/, String(index + 1)));

interface Item {
  readonly index: number;
  readonly result?: { readonly search: { readonly cached: boolean; readonly time_ms: number } };
}

/** Yields the items of a batch in the order in which they arrive. */
async function* batchOf(url: string, requests: readonly object[]): AsyncGenerator<Item> {
  const response = await fetch(`${url}/v1/eval/batch`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/x-ndjson" },
    body: JSON.stringify({ requests }),
  });
  const lines = response.body?.pipeThrough(new TextDecoderStream()) ?? [];
  let rest = "";
  for await (const piece of lines) {
    const parts = (rest + piece).split("\n");
    rest = parts.pop() ?? "";
    yield* parts.filter(Boolean).map((line): Item => JSON.parse(line));
  }
}

test("after a kill in the middle of a batch, the next server finds the finished answers in the store and searches only the other positions", async () => {
  const settings = { KIBITZ_DATA_DIR: join(home, "killed"), KIBITZ_STORE_MB: "16", KIBITZ_SLOTS: "1" };
  const server = await serve(settings);
  // The last search still runs when the server is killed.
  const sent = [...positions.slice(0, 8).map((fen) => ({ fen, depth })), { fen: startFen, depth: 30 }];
  const finished = new Set<number>();
  const reading = (async () => {
    for await (const { index } of batchOf(server.url, sent)) {
      finished.add(index);
    }
  })();
  reading.catch(() => {});
  await vi.waitFor(() => expect(finished.size).toBe(8), patienceMs);
  // Answers of the last 300 ms may be lost.
  await sleep(300);
  await server.stop("SIGKILL");
  await expect(reading).rejects.toThrow("terminated");

  const next = await serve(settings);
  const cached = new Map<number, boolean | undefined>();
  for await (const { index, result } of batchOf(
    next.url,
    positions.map((fen) => ({ fen, depth })),
  )) {
    cached.set(index, result?.search.cached);
  }
  expect(positions.map((_, index) => cached.get(index))).toEqual(positions.map((_, index) => index < 8));
  expect(next.complaints).toEqual([]);
});

test("a server whose data folder becomes unreachable keeps running and answers, and stores answers again when the folder is back", async () => {
  const folder = join(home, "unreachable");
  const server = await serve({ KIBITZ_DATA_DIR: folder, KIBITZ_STORE_MB: "16" });
  const ask = (fen: string) => post(`${server.url}/v1/eval`, { fen, depth });
  const said = () => server.logged.map(({ msg }) => msg).filter((msg) => msg.startsWith("stored answers"));
  folderIsUnreachable.begin(folder);
  onTestFinished(() => folderIsUnreachable.end(folder));
  for (const fen of positions) {
    expect((await ask(fen)).status).toBe(200);
  }
  const failure = "stored answers cannot be written";
  await vi.waitFor(() => expect(said()).toContainEqual(expect.stringContaining(failure)), patienceMs);
  folderIsUnreachable.end(folder);
  await vi.waitFor(() => expect(said().at(-1)).toBe("stored answers can be written again"), patienceMs);
  const causes = server.logged.filter(({ msg }) => msg.startsWith(failure)).map(({ error }) => error);
  expect(new Set(causes).size).toBe(causes.length);
  expect(await server.stop()).toBe(0);
  expect(server.complaints).toEqual([]);
});

const root = useTemporaryFolder();
const disk = useTemporaryFolder();
for (const folder of rowsWith(["mounts"], disk)) {
  mountSmallDisk(folder);
}

describe.each([
  ...rowsWith(["util-linux"], ["no file may grow", root, noFileGrowsBeyond("answers.db-wal")] as const),
  ...rowsWith(["mounts"], ["the disk is full", disk, diskIsFull] as const),
])("where %s", (_, folder, shortage) => {
  const app = useApp({ KIBITZ_DATA_DIR: folder, KIBITZ_STORE_MB: "1", KIBITZ_CACHE_MB: "0" });
  const complaints = () =>
    app.logged
      .map((line) => (line as { readonly message: string }).message)
      .filter((message) => message.startsWith("stored answers"));
  const ask = (fen: string) => post(`${app.url}/v1/eval`, { fen, depth });

  test("if the file of stored answers cannot grow, requests are still answered; answers are stored again when space is free", async () => {
    const [known = "", ...others] = positions;
    await ask(known);
    await sleep(300);
    shortage.begin(folder);
    const end = () => shortage.end(folder);
    onTestFinished(end);
    for (const fen of others) {
      expect((await ask(fen)).status).toBe(200);
    }
    await vi.waitFor(
      () => expect(complaints()).toContainEqual(expect.stringContaining("stored answers cannot be written")),
      patienceMs,
    );
    expect((await ask(known)).status).toBe(200);
    end();
    await vi.waitFor(
      () => expect(complaints().at(-1)).toBe("stored answers can be written again"),
      patienceMs,
    );
    await vi.waitFor(async () => {
      expect((await ask(known)).body.search).toMatchObject({ cached: true });
    }, patienceMs);
  });
});
