import { expect, onTestFinished, test, vi } from "vitest";
import { startFen } from "../../contract/protocols/cases/case.ts";
import { post } from "../../contract/protocols/post.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { freePort } from "../../support/free-port.ts";
import { patienceMs } from "../../support/patience.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { startRelay } from "../../support/relay.ts";
import { useApp } from "../../support/running-app.ts";
import { startUci, type UciTalk } from "./start-session.ts";

/** If the depth of a search is more than 19 plies, the fake engines search until the time limit or until `stop`. */
const engines = createEnginesInProcess();
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_PLANS: usePlansFile({
      id: "keyless",
      limits: { depth_max: 14, multipv_max: 2, rates: [rateOf("second", 6, 1)] },
    }),
  },
  { engines },
);

function uciAt(url: string, ...args: readonly string[]): UciTalk {
  const talk = startUci(["--url", url, ...args]);
  onTestFinished(async () => {
    talk.hangUp();
    await talk.ended;
  });
  return talk;
}

test("kibitz uci --url searches at a service, and prints which values the plan does not allow", async () => {
  const { say, until } = uciAt(app.url);
  say("uci");
  const greeting = await until(/^uciok$/);
  expect(greeting[0]).toMatch(/^id name Kibitz \d.* \(Stockfish 19 Lite in process at 127\.0\.0\.1:\d+\)$/);
  expect(greeting).toContain("option name UCI_Elo type spin default 1320 min 1320 max 3190");
  expect(greeting).toContain("option name UCI_LimitStrength type check default false");
  say("setoption name MultiPV value 3", "position startpos moves e2e4", "go depth 20");
  const lines = await until(/^bestmove /);
  expect(lines.filter((line) => line.startsWith("info string"))).toEqual([
    "info string go depth 20 is outside 1 to 14: taken as 14",
    "info string MultiPV 3 is outside 1 to 2: taken as 2",
  ]);
  expect(lines.at(-2)).toMatch(/^info depth 14 .* multipv 2 /);
});

test("kibitz uci --url prints the best move after stop, and leaves no engine searching", async () => {
  const { say, until } = uciAt(app.url);
  say("go infinite");
  await until(/^info depth 19 /);
  expect(engines.searching).toBe(1);
  say("stop");
  expect((await until(/^bestmove /)).at(-1)).toMatch(/^bestmove [a-h]\d[a-h]\d/);
  await vi.waitFor(() => expect(engines.searching).toBe(0), patienceMs);
});

test("kibitz uci --url waits for the rate limit of the service and then searches", async () => {
  const { say, until } = uciAt(app.url);
  const heard: string[] = [];
  const refusal = /^info string .+; retrying in \d+ ms$/;
  for (let count = 0; count < 50 && !heard.some((line) => refusal.test(line)); count++) {
    // Requests from other callers at this address also use the rate limit. On a busy machine one program alone is too slow to
    // reach the limit.
    const others = Array.from({ length: 12 }, () => post(`${app.url}/v1/eval`, { fen: startFen, depth: 1 }));
    say(`position startpos moves ${count % 2 ? "d2d4" : "e2e4"}`, "go depth 3 movetime 5000");
    heard.push(...(await until(/^bestmove /)));
    await Promise.all(others);
  }
  expect(heard).toContainEqual(expect.stringMatching(refusal));
  expect(heard.join("\n")).not.toContain("is only the first that is legal");
});

test("kibitz uci --url prints why the connection broke, and prints the best move so far after stop", async () => {
  await using relay = await startRelay(Number(new URL(app.url).port));
  const { say, until } = uciAt(`http://127.0.0.1:${relay.port}`);
  say("go infinite");
  await until(/^info depth 19 /);
  await relay[Symbol.asyncDispose]();
  const [broken = "", refused] = await until(/^info string nothing is listening/);
  expect(broken).toMatch(/^info string the connection to .+ broke off .+; retrying in 200 ms$/);
  expect(refused).toMatch(/^info string nothing is listening at .+ \(ECONNREFUSED\)/);
  say("stop");
  const lines = await until(/^bestmove [a-h]\d[a-h]\d/);
  expect(lines.join("\n")).not.toContain("is only the first that is legal");
});

test("kibitz uci --url exits with 1 and prints why the service does not respond", async () => {
  const { until, ended } = startUci(["--url", `http://127.0.0.1:${await freePort()}`]);
  expect((await until(/^info string/)).at(-1)).toMatch(/^info string nothing is listening at /);
  expect(await ended).toBe(1);
});

test.each([
  [["--engine", "stockfish-3"], /"stockfish-3".* stockfish-19, /],
  [["--key", "kbz_no"], /API key/],
])("kibitz uci --url %j exits with 2", async (args, complaint) => {
  const { until, ended } = startUci(["--url", app.url, ...args]);
  expect((await until(/^info string/)).at(-1)).toMatch(complaint);
  expect(await ended).toBe(2);
});
