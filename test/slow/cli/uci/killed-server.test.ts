import { expect, test } from "vitest";
import { startUci } from "../../../cli/uci/start-session.ts";
import { quickestSettings } from "../../../support/quickest-settings.ts";
import { startServer } from "../../../support/start-server.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";

test("when the server is killed in the middle of a search, stop still has the best move, and the game goes on", async () => {
  const server = await startServer({ ...quickestSettings, KIBITZ_DATA_DIR: useTemporaryFolder() });
  const { say, until, ended } = startUci(["--url", server.url]);
  say("uci", "go infinite");
  await until(/^info depth 6 /);
  await server.stop("SIGKILL");
  expect((await until(/^info string /)).at(-1)).toMatch(/the connection to .+; asking again in 200 ms$/);

  const stoppedAt = performance.now();
  say("stop");
  const lines = await until(/^bestmove /);
  expect(performance.now() - stoppedAt).toBeLessThan(200);
  expect(lines.join("\n")).not.toContain("is only the first that is legal");

  say("position startpos moves e2e4", "go wtime 3000 btime 3000");
  const askedAt = performance.now();
  expect((await until(/^bestmove /)).join("\n")).toMatch(
    /^info string nothing is listening at .+\n(.+\n)*info string no move was found: .+\nbestmove \w{4}$/,
  );
  expect(performance.now() - askedAt).toBeLessThan(3000);
  say("quit");
  expect(await ended).toBe(0);
});
