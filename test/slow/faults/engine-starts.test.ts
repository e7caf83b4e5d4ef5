import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startFen } from "../../contract/protocols/cases/case.ts";
import { get, post } from "../../contract/protocols/post.ts";
import { writeScript } from "../../engine/write-script.ts";
import { fakeEngineCommandIn } from "../../support/fake-engine/index.ts";
import { useApp } from "../../support/running-app.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const shortage = join(folder, "shortage");
/** Starts no engine while the file `shortage` exists, as a machine without free processes or memory. */
const script = writeScript(
  `[ -e "${shortage}" ] && exit 1\n${fakeEngineCommandIn(folder, 100)}`,
  "fake",
  folder,
);
const app = useApp({
  KIBITZ_NATIVE_ENGINES: script,
  KIBITZ_DEFAULT_ENGINE: "fake-1.0",
  KIBITZ_SLOTS: "2",
  KIBITZ_CACHE_MB: "0",
});

const search = (limits: object) => post(`${app.url}/v1/eval`, { fen: startFen, ...limits });
const readyz = async () => (await get(`${app.url}/readyz`)).status;
const isAvailable = async () => {
  const { body } = await get(`${app.url}/engines`);
  const { engines } = body as { engines: { id: string; paths: { available: boolean }[] }[] };
  return engines.find(({ id }) => id === "fake-1.0")?.paths[0]?.available;
};

test("an engine that could not be started is available again within 30 s after the end of the cause, while another engine of the build searches", async () => {
  const long = await fetch(`${app.url}/v1/eval/stream`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ fen: startFen, nodes: 1_000_000_000, movetime_ms: 8000 }),
  });
  const [begun, whole] = long.body?.tee() ?? expect.fail("no body");
  await begun.getReader().read();
  const ended = new Response(whole).text();

  writeFileSync(shortage, "");
  expect((await search({ depth: 2 })).body).toMatchObject({ code: "starting" });
  expect([await readyz(), await isAvailable()]).toEqual([503, false]);

  rmSync(shortage);
  await expect.poll(readyz, { timeout: 30_000, interval: 100 }).toBe(200);
  expect(await isAvailable()).toBe(true);
  // The first search still runs, so the second search needs another engine.
  expect((await search({ depth: 2 })).status).toBe(200);
  expect(await Promise.race([ended, "still running"])).toBe("still running");
  expect(await ended).toContain("event: done");
});
