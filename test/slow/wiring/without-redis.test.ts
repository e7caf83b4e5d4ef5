import { expect, test } from "vitest";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { startServer } from "../../support/start-server.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

const reportingHook = `
import { registerHooks } from "node:module";
let reported = false;
registerHooks({
  load(url, context, next) {
    if (!reported && /[/]@redis[/]|[/]storage[/]redis[/]/.test(url)) {
      reported = true;
      console.error("reads " + url);
    }
    return next(url, context);
  },
});`;

test.each([
  ["a server without Redis loads no module of the Redis client", {}, false],
  // No Redis runs at this address, but the server starts anyway.
  ["a server with Redis loads the Redis client", { KIBITZ_REDIS_URL: "redis://127.0.0.1:1" }, true],
])("%s", async (_, env, isRead) => {
  const server = await startServer({
    ...quickestSettings,
    ...env,
    KIBITZ_DATA_DIR: folder,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(reportingHook)}`,
  });
  await server.stop();
  expect(server.complaints.some((line) => line.startsWith("reads "))).toBe(isRead);
});
