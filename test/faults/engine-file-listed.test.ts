import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { startFen } from "../contract/doors/cases/case.ts";
import { get, post } from "../contract/doors/post.ts";
import { writeScript } from "../engine/write-script.ts";
import { fakeEngineCommandIn } from "../support/fake-engine/index.ts";
import { useApp } from "../support/running-app.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const fakeEngineCommand = fakeEngineCommandIn(folder);
const file = writeScript(fakeEngineCommand, "fake", folder);
const app = useApp({ KIBITZ_NATIVE_ENGINES: file });
const idsListed = async () => {
  const { status, body } = await get(`${app.url}/engines`);
  expect(status).toBe(200);
  return (body.engines as { id: string }[]).map(({ id }) => id);
};

test("an engine that is gone before it was ever asked is left out of the list, until it is back", async () => {
  rmSync(file);
  expect(await idsListed()).toEqual(["stockfish-19", "stockfish-19-lite"]);
  const refused = await post(`${app.url}/v1/eval`, { fen: startFen, depth: 2, engine: "fake-1.0" });
  expect([refused.status, refused.body]).toMatchObject([
    503,
    { code: "starting", next_action: "retry_later" },
  ]);
  writeScript(fakeEngineCommand, "fake", folder);
  await expect.poll(idsListed, { timeout: 40_000 }).toContain("fake-1.0");
});
