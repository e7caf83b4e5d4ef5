import { once } from "node:events";
import { createWriteStream, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { startKibitz } from "../../support/start-kibitz.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const games = 4000;
const fileMinBytes = 10e6;

/** Writes games with long comments and few moves, so that the file is large but its review is quick. */
async function writeGames(path: string): Promise<void> {
  const file = createWriteStream(path);
  for (let game = 1; game <= games; game++) {
    const comment = `game ${game} `.repeat(Math.ceil(2600 / `game ${game} `.length));
    const text = `[Event "${game}"]\n[White "A"]\n[Black "B"]\n\n1. e4 {${comment}} e5 2. Nf3 Nc6 *\n\n`;
    if (!file.write(text)) {
      await once(file, "drain");
    }
  }
  file.end();
  await once(file, "close");
}

function residentMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

test("kibitz review uses no more memory for the last games of a 10 MB file than for the first games", async () => {
  const path = join(folder, "many.pgn");
  await writeGames(path);
  expect(statSync(path).size).toBeGreaterThan(fileMinBytes);
  const output = join(folder, "annotated.pgn");
  const kibitz = startKibitz(["review", path, "-d", "1", "--json", "--output", output], {
    ...quickestSettings,
    KIBITZ_DATA_DIR: join(folder, "data"),
  });
  const samples: number[] = [];
  let reviewed = 0;
  for await (const line of createInterface(kibitz.stdout)) {
    reviewed += Number(line.includes('"method":"lichess-2026"'));
    if (reviewed % 100 === 0) {
      samples.push(residentMb(kibitz.pid));
    }
  }
  expect(await kibitz.ended).toBe(0);
  expect(reviewed).toBe(games);
  expect(readFileSync(output, "utf8").match(/^\[Event /gm)).toHaveLength(games);
  // The first games do not count: during them V8 compiles code and the heap grows to its usual size.
  const [early, late] = [samples.slice(5, 15), samples.slice(-10)].map((part) => Math.max(...part));
  console.log(
    `resident after the first games: ${early?.toFixed()} MB, after the last: ${late?.toFixed()} MB`,
  );
  expect(late).toBeLessThan((early ?? 0) + 20);
});
