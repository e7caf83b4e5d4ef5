import { readdirSync } from "node:fs";
import { beforeAll, describe, expect, type TestContext, test } from "vitest";
import { post } from "../contract/protocols/post.ts";
import { rowsWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { useApp } from "../support/running-app.ts";
import { tablesFolder, verifyTablesOf } from "../support/tables.ts";
import type { Program } from "./language.ts";
import { languages } from "./languages/index.ts";
import { examples } from "./places.ts";
import { type RecordingProxy, startRecordingProxy } from "./recording-proxy.ts";
import { runProgram } from "./run-program.ts";

// Seconds. The rate limit allows three requests in this time. An example sends twelve requests, so it has to wait even on a
// busy machine.
const windowS = 6;
const plans = usePlansFile({ id: "keyless", limits: { rates: [rateOf("burst", 3, windowS)] } });
const app = useApp({
  KIBITZ_ACCESS: "public",
  KIBITZ_PLANS: plans,
  KIBITZ_CACHE_MB: "0",
  KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
  KIBITZ_SYZYGY: tablesFolder,
});

// A look-up in a table that is not verified yet is refused for a second, and the examples wait.
beforeAll(() => verifyTablesOf(app.url));

const programs = languages.flatMap(({ needs, examples }) => rowsWith(needs, ...examples));

/** Each run uses a different address, because every address has its own rate limit. */
let callers = 1;
async function startProxy({ onTestFinished }: TestContext) {
  const proxy = await startRecordingProxy(app.url, `127.0.1.${callers++}`);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** Each run needs its own key, because the plan limits the concurrent calls of a key. */
const newKey = async ({ url }: RecordingProxy) => String((await post(`${url}/v1/keys`, {})).body.key);

const move = String.raw`[KQRBNa-h][\w+#=x-]+`;
const score = String.raw`([+-]\d+\.\d\d|mate in -?\d+)`;
const bestMove = (depth: string) =>
  new RegExp(String.raw`^best move ${move}, ${score} \(White's view\), depth ${depth}$`);
const state = new RegExp(String.raw`^depth \d+: ${score} ${move}( final)?$`);
const waiting = /^rate limited, waiting [1-6] s$/;

// The examples run concurrently, because they mostly wait.
describe.concurrent.each(programs)("$name", (program: Program) => {
  const run = (proxy: RecordingProxy, apiKey: string, onLine?: (line: string) => void) =>
    runProgram([...program.command, proxy.url], {
      ...program,
      env: { ...program.env, KIBITZ_API_KEY: apiKey },
      ...(onLine && { onLine }),
    });

  test("an example program evaluates, streams and reviews, reduces its depth after a refusal, looks up endgame tables, and waits for the rate limit", async (context) => {
    const printed = (await run(await startProxy(context), "")).trimEnd().split("\n");
    const lines = printed.filter((line) => !waiting.test(line));
    expect(lines.length, printed.join("\n")).toBeLessThan(printed.length);

    expect(lines[0]).toMatch(bestMove("12"));
    const states = lines.filter((line) => state.test(line));
    expect(states.length).toBeGreaterThan(1);
    expect(states.filter((line) => line.endsWith(" final"))).toEqual(states.slice(-1));
    expect(lines.filter((line) => line.startsWith("review: "))).toEqual([
      expect.stringMatching(
        /^review: White played with .+% accuracy, Black with .+%; the game turned at 2\. g4 \(blunder\)\.$/,
      ),
    ]);
    const refused = lines.findIndex((line) => line.includes("upgrade_needed"));
    expect(lines[refused]).toMatch(
      /^without a key: upgrade_needed, get_api_key for more; asking for depth \d+, 1 s:$/,
    );
    expect(lines[refused + 1]).toMatch(bestMove(String.raw`\d+`));
    const lookedUp = lines.indexOf("tablebase: win, best move b8=Q");
    expect(lookedUp, printed.join("\n")).toBeGreaterThan(refused);
    expect(lines[lookedUp + 1]).toBe("not_in_tablebase: send_to_eval");
    expect(lines[lookedUp + 2]).toMatch(bestMove("12"));
    expect(lines.slice(-5)).toEqual(Array.from({ length: 5 }, () => expect.stringMatching(bestMove("12"))));
  });

  test("an example program that gets an API key sends the key, and never has to wait for the rate limit", async (context) => {
    const proxy = await startProxy(context);
    const printed = await run(proxy, await newKey(proxy));
    // The example sends two calls without a key, which are within the limit.
    expect(printed.split("\n").filter((line) => waiting.test(line))).toEqual([]);
  });

  test("an example program reconnects when its connection breaks during a stream, and prints each depth once", async (context) => {
    const proxy = await startProxy(context);
    const key = await newKey(proxy);
    // Without the pause, the complete response might arrive before the test cuts the connection.
    proxy.pauseAnswers(500);
    let isCut = false;
    const printed = await run(proxy, key, (line) => {
      if (!isCut && state.test(line)) {
        isCut = true;
        proxy.cut();
      }
    });
    const lines = printed.trimEnd().split("\n");
    expect(lines).toContain("connection lost, asking again");
    const depths = lines.filter((line) => state.test(line)).map((line) => /\d+/.exec(line)?.[0]);
    expect(new Set(depths).size).toBe(depths.length);
    expect(lines.filter((line) => state.test(line)).at(-1)).toMatch(/^depth 16: .* final$/);
  });
});

test("the tests run the examples of every language folder in examples/", () => {
  const folders = readdirSync(examples, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(languages.map(({ name }) => name).toSorted()).toEqual(folders.map(({ name }) => name).toSorted());
});
