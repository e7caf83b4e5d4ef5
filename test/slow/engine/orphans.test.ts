import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { descendantsOf, stillRunning } from "../../engine/processes.ts";
import { withoutUnshare } from "../../support/components.ts";
import { nativeStockfish } from "../../support/native-stockfish.ts";
import { testWith } from "../../support/needs.ts";

const file = fileURLToPath(new URL("../../engine/engine-owner.ts", import.meta.url));

async function expectNoEngineAfterKill(state: string, through: readonly string[] = []): Promise<void> {
  const [command = "", ...args] = [...through, process.execPath, file, state];
  const owner = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void owner.kill("SIGKILL"));
  await once(owner.stdout, "data");
  const engines = descendantsOf(owner.pid ?? 0);
  expect(engines).toHaveLength(nativeStockfish() === undefined ? 1 : 2);
  owner.kill("SIGKILL");
  await once(owner, "exit");
  await expect.poll(() => stillRunning(engines), { timeout: 10_000 }).toEqual([]);
}

test.each(["idle", "searching", "unstoppable"])("when a server is killed, its %s engines exit", (state) =>
  expectNoEngineAfterKill(state),
);

testWith("namespaces", "util-linux")(
  "engines that ignore stop commands exit when their server is killed, even if namespaces are forbidden",
  () => expectNoEngineAfterKill("unstoppable", withoutUnshare),
);
