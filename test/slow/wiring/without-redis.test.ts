import { expect, test } from "vitest";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { startServer } from "../../support/start-server.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

/** Tells once when a process reads a module of Redis. */
const telling = `
import { registerHooks } from "node:module";
let told = false;
registerHooks({
  load(url, context, next) {
    if (!told && /[/]@redis[/]|[/]storage[/]redis[/]/.test(url)) {
      told = true;
      console.error("reads " + url);
    }
    return next(url, context);
  },
});`;

test.each([
  ["a server that is alone reads nothing of Redis", {}, false],
  // Nobody listens there: it starts all the same.
  ["a server with a Redis reads its library", { KIBITZ_REDIS_URL: "redis://127.0.0.1:1" }, true],
])("%s", async (_, env, isRead) => {
  const server = await startServer({
    ...quickestSettings,
    ...env,
    KIBITZ_DATA_DIR: folder,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(telling)}`,
  });
  await server.stop();
  expect(server.complaints.some((line) => line.startsWith("reads "))).toBe(isRead);
});
