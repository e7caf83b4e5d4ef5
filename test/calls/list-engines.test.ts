import { setTimeout as sleep } from "node:timers/promises";
import { createContextValues } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { createLocalAccess } from "../../src/access/access.ts";
import { silentLog } from "../../src/log/log.ts";
import { createAnalysisService } from "../../src/services/analysis-service.ts";
import { createTimeSlicer } from "../../src/thread/event-loop.ts";

test("the list of engines is the same message, until an engine comes or goes", async () => {
  let available = true;
  const build = {
    id: "x",
    path: "wasm",
    net: "full",
    settings: { threads: 1, hashMb: 16 },
    hashSteps: [],
    sha256: async () => "a",
  };
  const version = { id: "x", builds: [build], defaultBuild: build };
  const { methods } = createAnalysisService({
    engines: {
      catalog: { versions: [version], latest: version },
      describe: async () => ({ name: "x", author: "y", options: [] }),
      available: () => available,
    },
    access: await createLocalAccess(),
  } as never);
  const list = async () => methods.listEngines?.({} as never, {} as never);
  const first = await list();
  expect(await list()).toBe(first);
  available = false;
  const second = await list();
  expect(second).not.toBe(first);
  expect(second).toMatchObject({ engines: [{ paths: [{ available: false }] }] });
});

test("an engine whose file was replaced fails the call that lists it, and not the process", async () => {
  const replaced = new Error("its file was replaced");
  const build = { id: "x", sha256: () => Promise.reject(replaced) };
  const version = { id: "x", builds: [build], defaultBuild: build };
  const { methods } = createAnalysisService({
    analyzer: { expectMs: () => 1 },
    engines: {
      catalog: { versions: [version], latest: version },
      // The engine is asked what it is, which takes longer than to see that its file is another one.
      describe: () => sleep(20).then(() => Promise.reject(replaced)),
      available: () => true,
    },
    access: await createLocalAccess(),
    judge: {},
    beginWork: createTimeSlicer(),
    searchesAtOnce: 1,
    log: silentLog,
  } as never);
  const context = { signal: new AbortController().signal, values: createContextValues() };
  await expect((async () => methods.listEngines?.({} as never, context as never))()).rejects.toBe(replaced);
});
