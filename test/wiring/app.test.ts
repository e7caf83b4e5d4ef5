import { expect, test, vi } from "vitest";
import { type Engines, startEngines } from "../../src/engine/engines.ts";
import { silentLog } from "../../src/log/log.ts";
import { startApp } from "../../src/wiring/app.ts";
import { loadConfig } from "../../src/wiring/config.ts";
import { createFakeBackend } from "../support/fake-engine/index.ts";
import { neverLate } from "../support/never-late.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const folder = useTemporaryFolder();

test("stopping the app closes all its parts, even if the engines cannot be closed", async () => {
  const config = loadConfig({ KIBITZ_PORT: "0", KIBITZ_ACCESS: "open", KIBITZ_DATA_DIR: folder });
  const engines = await startEngines(
    { backends: [createFakeBackend()], defaultEngine: undefined, memoryMaxBytes: 4e9, log: silentLog },
    new AbortController().signal,
  );
  const unclosable = {
    ...engines,
    async [Symbol.asyncDispose]() {
      await engines[Symbol.asyncDispose]();
      throw new Error("still alive");
    },
  };
  const closeFirstPart = vi.fn();
  const app = await startApp(config, silentLog, Promise.resolve(unclosable), {
    lag: { ...neverLate, [Symbol.dispose]: closeFirstPart },
  });
  await expect(app.stop()).rejects.toThrow("still alive");
  expect(closeFirstPart).toHaveBeenCalledOnce();
  await expect(fetch(app.url)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
});

test("an app that cannot read its plans closes its engines and all its parts", async () => {
  const config = loadConfig({ KIBITZ_PORT: "0", KIBITZ_DATA_DIR: folder, KIBITZ_PLANS: folder });
  const [closeEngines, closeFirstPart] = [vi.fn(async () => {}), vi.fn()];
  const engines = { [Symbol.asyncDispose]: closeEngines } as unknown as Engines;
  const started = startApp(config, silentLog, Promise.resolve(engines), {
    lag: { ...neverLate, [Symbol.dispose]: closeFirstPart },
  });
  await expect(started).rejects.toThrow(`KIBITZ_PLANS: ${folder} cannot be read`);
  expect(closeEngines).toHaveBeenCalledOnce();
  expect(closeFirstPart).toHaveBeenCalledOnce();
});
