import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { post } from "../contract/doors/post.ts";
import { rowsWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { useApp } from "../support/running-app.ts";
import type { Program } from "./language.ts";
import { languages } from "./languages/index.ts";
import { examplesOf } from "./places.ts";
import { startRecordingProxy } from "./recording-proxy.ts";
import { runProgram } from "./run-program.ts";

// So tight that every example has to wait: it asks nine times, three of them on end in less than this even where the machine is busy.
const windowS = 6;
const plans = usePlansFile({ id: "keyless", limits: { rates: [rateOf("burst", 3, windowS)] } });
const app = useApp({ KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans, KIBITZ_CACHE_MB: "0" });

let key = "";
beforeAll(async () => {
  key = String((await post(`${app.url}/v1/keys`, {})).body.key);
});

const examples = languages.flatMap(({ needs, examples }) => rowsWith(needs, ...examples));

const move = String.raw`[KQRBNa-h][\w+#=x-]+`;
const score = String.raw`([+-]\d+\.\d\d|mate in -?\d+)`;
const bestMove = (depth: string) =>
  new RegExp(String.raw`^best move ${move}, ${score} \(White's view\), depth ${depth}$`);
const state = new RegExp(String.raw`^depth \d+: ${score} ${move}( final)?$`);
const waiting = /^rate limited, waiting [1-6] s$/;

describe.each(examples)("$name", (example: Program) => {
  const run = (env: Readonly<Record<string, string>>) =>
    runProgram([...example.command, app.url], { ...example, env: { ...example.env, ...env } });

  test("evaluates, watches, reviews, asks for less when it has to, and waits when it has to", async () => {
    const printed = (await run({ KIBITZ_API_KEY: "" })).trimEnd().split("\n");
    const lines = printed.filter((line) => !waiting.test(line));
    expect(lines.length, printed.join("\n")).toBeLessThan(printed.length);

    expect(lines[0]).toMatch(bestMove("12"));
    const states = lines.filter((line) => state.test(line));
    expect(states.length).toBeGreaterThan(1);
    expect(states.filter((line) => line.endsWith(" final"))).toEqual(states.slice(-1));
    expect(lines.filter((line) => line.startsWith("review: "))).toEqual([
      expect.stringMatching(
        /^review: White played with .+ % accuracy, Black with .+ %; the game turned at 2\. g4 \(blunder\)\.$/,
      ),
    ]);
    const refused = lines.findIndex((line) => line.includes("upgrade_needed"));
    expect(lines[refused]).toMatch(
      /^without a key: upgrade_needed, get_api_key for more; asking for depth \d+, 1 s:$/,
    );
    expect(lines[refused + 1]).toMatch(bestMove(String.raw`\d+`));
    expect(lines.slice(-5)).toEqual(Array.from({ length: 5 }, () => expect.stringMatching(bestMove("12"))));
  });

  test("sends the key that it is given", async () => {
    // The run before this one may have used up the window of those without a key.
    await sleep(windowS * 1000);
    const printed = await run({ KIBITZ_API_KEY: key });
    // The one call that it makes without the key has all of that window.
    expect(printed.split("\n").filter((line) => waiting.test(line))).toEqual([]);
  });

  test("asks again when its connection breaks under a stream, and shows each depth once", async () => {
    const proxy = await startRecordingProxy(app.url);
    onTestFinished(() => proxy.close());
    let isCut = false;
    const printed = await runProgram([...example.command, proxy.url], {
      ...example,
      env: { ...example.env, KIBITZ_API_KEY: key },
      onLine(line) {
        if (!isCut && state.test(line)) {
          isCut = true;
          proxy.cut();
        }
      },
    });
    const lines = printed.trimEnd().split("\n");
    expect(lines).toContain("connection lost, asking again");
    const depths = lines.filter((line) => state.test(line)).map((line) => /\d+/.exec(line)?.[0]);
    expect(new Set(depths).size).toBe(depths.length);
    expect(lines.filter((line) => state.test(line)).at(-1)).toMatch(/^depth 16: .* final$/);
  });
});

test("every folder of examples is a language that is run", () => {
  const folders = readdirSync(examplesOf("."), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  expect(languages.map(({ name }) => name).toSorted()).toEqual(folders.map(({ name }) => name).toSorted());
});
