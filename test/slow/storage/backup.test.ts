import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { get, post } from "../../contract/protocols/post.ts";
import { serve } from "../../support/served.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const kibitz = fileURLToPath(new URL("../../../bin/kibitz.js", import.meta.url));
const running = readFileSync(new URL("../../../docs/running.md", import.meta.url), "utf8");
const [, backUp = ""] = /^kibitz (backup kibitz-backup\.db) /m.exec(running) ?? [];

test("the documented backup of a running server restores its API keys on another server with the same pepper", async () => {
  const settings = { KIBITZ_ACCESS: "public", KIBITZ_KEY_PEPPER: "a pepper of sixteen" };
  const before = await serve({ ...settings, KIBITZ_DATA_DIR: join(folder, "data") });
  const keyOf = async (name: string) => {
    const { body } = await post(`${before.url}/v1/keys`, { name });
    return { Authorization: `Bearer ${body.key}` };
  };
  const early = await keyOf("early");
  execFileSync(process.execPath, [kibitz, ...backUp.split(" ")], {
    cwd: folder,
    env: { ...process.env, KIBITZ_KEY_PEPPER: settings.KIBITZ_KEY_PEPPER },
  });
  const late = await keyOf("late");
  await before.stop("SIGKILL");

  const backup = join(folder, "kibitz-backup.db");
  expect(statSync(backup).mode & 0o077).toBe(0);
  const statusWith = async (pepper: string, headers: Readonly<Record<string, string>>) => {
    const dataDir = join(folder, pepper);
    mkdirSync(dataDir);
    copyFileSync(backup, join(dataDir, "kibitz.db"));
    const server = await serve({ ...settings, KIBITZ_KEY_PEPPER: pepper, KIBITZ_DATA_DIR: dataDir });
    const { status } = await get(`${server.url}/v1/keys/self`, { headers });
    return { server, status };
  };
  const restored = await statusWith(settings.KIBITZ_KEY_PEPPER, early);
  expect(restored.status).toBe(200);
  expect((await get(`${restored.server.url}/v1/keys/self`, { headers: late })).status).toBe(401);
  await expect(statusWith("another pepper, as long", early)).rejects.toThrow("were made with another pepper");
});
