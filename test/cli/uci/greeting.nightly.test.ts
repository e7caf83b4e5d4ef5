import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { text } from "node:stream/consumers";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { startKibitz } from "../../support/start-kibitz.ts";
import { timesOf } from "../../support/stopwatch.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

/** docs/uci.md promises that every start except the first takes at most this time. */
const promisedMs = 1000;

const env = { ...quickestSettings, KIBITZ_WASM_BUILD: "fast", KIBITZ_DATA_DIR: useTemporaryFolder() };

/** Milliseconds from the start of `kibitz uci` until its exit after `uci` and `quit`. */
async function greetingMs(): Promise<number> {
  const startedAt = performance.now();
  const through = ["sh", "-c", 'printf "uci\\nquit\\n" | "$@"', "sh"];
  const kibitz = startKibitz(["uci"], env, { through });
  expect(await text(kibitz.stdout)).toMatch(/\nuciok\n$/);
  await kibitz.ended;
  return performance.now() - startedAt;
}

// The first start stores the greeting for later starts.
beforeAll(async () => void (await greetingMs()), 60_000);

test("kibitz uci prints uciok within a second, even on a machine with twice as many busy processes as cores", async () => {
  const busy = Array.from({ length: 2 * availableParallelism() }, () =>
    spawn("sh", ["-c", "while :; do :; done"]),
  );
  onTestFinished(() => busy.forEach((process) => void process.kill("SIGKILL")));
  const { worstMs } = await timesOf(20, greetingMs);
  expect(worstMs).toBeLessThan(promisedMs);
});
