import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openSqliteAnswerStore } from "../../../src/storage/sqlite/answer-store.ts";
import { killWriters } from "../../storage/kill-writers.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const answers = useTemporaryFolder();

const kills = 4;

test("after kills of writing processes, the key database opens, and no confirmed key or revocation is lost", () =>
  killWriters(folder, kills));

test("after a kill during writing, the file of stored answers is intact and lacks only the last answers", async () => {
  const writer = fileURLToPath(new URL("../../storage/killed-answer-writer.ts", import.meta.url));
  let next = 0;
  for (let kill = 0; kill < 2; kill++) {
    const child = spawn(process.execPath, [writer, answers, String(next)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface(child.stdout);
    const until = next + 400 + kill * 37;
    lines.on("line", (line) => {
      next = Number(line) + 1;
      if (next === until) {
        child.kill("SIGKILL");
      }
    });
    await once(lines, "close");
    using store = openSqliteAnswerStore(answers, {
      bytes: 2e6,
      format: { version: 1, read: (json) => json },
    });
    // Answers are written in groups of 16, with a pause after each group.
    const known = (number: number) => store.get(String(number)) !== undefined;
    const young = Array.from({ length: 300 }, (_, back) => next - 1 - back);
    const lost = young.filter((number) => !known(number));
    expect(lost.length).toBeLessThan(150);
    expect(lost).toEqual(young.slice(0, lost.length));
    const database = new DatabaseSync(join(answers, "answers.db"));
    expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    database.close();
  }
});
