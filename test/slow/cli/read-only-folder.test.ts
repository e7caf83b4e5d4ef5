import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startFen } from "../../chess/validated.ts";
import { runKibitz } from "../../cli/run-kibitz.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
/** Without KIBITZ_DATA_DIR a command uses the cache folder. */
const env = { KIBITZ_DATA_DIR: "", KIBITZ_STORE_MB: "16", XDG_CACHE_HOME: join(folder, "cache") };

const positions = join(folder, "positions.epd");
const games = join(folder, "games.pgn");
const search = ["--depth", "4"];

test.each([
  { args: ["eval", "startpos", ...search] },
  { args: ["bestmove", "startpos", ...search] },
  { args: ["eval", "--file", positions, ...search] },
  { args: ["review", games, ...search] },
  { args: ["engines"] },
  { args: ["uci"], stdin: ["position startpos\n", "go depth 4\n"] },
  { args: ["mcp"], stdin: ['{"jsonrpc":"2.0","id":1,"method":"ping"}\n'] },
])("kibitz $args works in a read-only folder without creating a file", async ({ args, stdin }) => {
  writeFileSync(positions, `${startFen}\n`);
  writeFileSync(games, "1. e4 *\n");
  const here = process.cwd();
  const readOnly = join(folder, `read-only-${args.join("-").replaceAll("/", "-")}`);
  mkdirSync(readOnly, { mode: 0o555 });
  process.chdir(readOnly);
  onTestFinished(() => process.chdir(here));
  expect(await runKibitz(args, env, stdin)).toMatchObject({ code: 0 });
  // If the tests run as root, the folder is writable, and this check alone would fail.
  expect(readdirSync(readOnly)).toEqual([]);
});
