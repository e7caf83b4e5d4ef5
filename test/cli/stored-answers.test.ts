import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startFen } from "../chess/validated.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { runKibitz } from "./run-kibitz.ts";

const folder = useTemporaryFolder();
/** Without KIBITZ_DATA_DIR a command uses the cache folder. */
const env = { KIBITZ_DATA_DIR: "", KIBITZ_STORE_MB: "16", XDG_CACHE_HOME: join(folder, "cache") };
const single = ["eval", startFen, "--depth", "6", "--json"];

test("a review stores its results in the user's cache folder, for later reviews and evaluations", async () => {
  const review = async (game: string) => {
    const file = join(folder, "game.pgn");
    writeFileSync(file, game);
    return JSON.parse((await runKibitz(["review", file, "--depth", "6", "--json"], env)).stdout);
  };
  const first = await review("1. e4 e5 2. Qh5 *\n");
  expect(first.search).toMatchObject({ positions: 4, searched: 4, cached: 0 });
  const second = await review("1. e4 e5 2. Qh5 Nc6 *\n");
  expect(second.search).toMatchObject({ positions: 5, searched: 1, cached: 4 });
  expect(second.moves.slice(0, 3)).toEqual(first.moves);
  expect(JSON.parse((await runKibitz(single, env)).stdout)).toMatchObject({ search: { cached: true } });
  expect(existsSync(join(folder, "cache/kibitz/answers.db"))).toBe(true);
});

test("a single evaluation creates no cache folder", async () => {
  const none = join(folder, "none");
  const { stdout } = await runKibitz(single, { ...env, XDG_CACHE_HOME: none });
  expect(JSON.parse(stdout)).toMatchObject({ search: { cached: false } });
  expect(existsSync(none)).toBe(false);
});

test("an unusable cache folder causes no error and no message", async () => {
  const file = join(folder, "one.epd");
  writeFileSync(file, `${startFen}\n`);
  const { code, stderr } = await runKibitz(["eval", "--file", file, "--depth", "6"], {
    ...env,
    KIBITZ_DATA_DIR: join(file, "data"),
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "kibitz: 1 position\n" });
});
