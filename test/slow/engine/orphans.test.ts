import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { descendantsOf, stillRunning } from "../../engine/processes.ts";
import { nativeStockfish } from "../../support/native-stockfish.ts";

const file = fileURLToPath(new URL("../../engine/engine-owner.ts", import.meta.url));

test.concurrent.for(["idle", "searching", "unstoppable"])(
  "engines that are %s end when their server is killed",
  async (state, { expect, onTestFinished }) => {
    const owner = spawn(process.execPath, [file, state], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void owner.kill("SIGKILL"));
    await once(owner.stdout, "data");
    const engines = descendantsOf(owner.pid ?? 0);
    expect(engines).toHaveLength(nativeStockfish() === undefined ? 1 : 2);
    owner.kill("SIGKILL");
    await once(owner, "exit");
    await expect.poll(() => stillRunning(engines), { timeout: 10_000 }).toEqual([]);
  },
);
