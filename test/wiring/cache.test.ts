import { expect, test } from "vitest";
import { silentLog } from "../../src/log/log.ts";
import { ConfigError, loadConfig } from "../../src/wiring/config.ts";
import { createService } from "../../src/wiring/service.ts";

test("a cache size that could fill the heap of the process is refused at the start", () => {
  const config = loadConfig({ KIBITZ_CACHE_MB: "100000" });
  const create = () => createService({} as never, {} as never, config, silentLog, {} as never);
  expect(create).toThrow(ConfigError);
  expect(create).toThrow(/^KIBITZ_CACHE_MB: 100000 MB is more than half of the \d+ MB/);
});
