import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mcpProcess } from "../protocols/mcp/agents.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { watchHealth } from "./health-watch.ts";
import { forgetPeak, vitalsOf } from "./processes-of.ts";
import { serviceSettings } from "./service-settings.ts";
import { startFen, useService } from "./started-service.ts";
import { codeOf, type Sent, toolCallOf, type WayIn, waysIn } from "./ways-in.ts";

interface Case extends Sent {
  readonly name: string;
  /** The expected error code in JSON, or undefined if the request succeeds. */
  readonly code?: string;
  /** The expected error code of the binary protocols. The default is `code`. */
  readonly binaryCode?: string;
  readonly mcpCode?: string;
  readonly answer?: RegExp;
  /** These protocols are tested after every change. All other protocols are tested every night. Default: all protocols. */
  readonly daily?: readonly string[];
  /** The sender disconnects after 2 s, because the request takes very long. */
  readonly disconnectsEarly?: true;
}

const kib = 1024;
const opening = "1. f3 e5 2. g4 {";
const end = "} Qh4# 0-1";
const comment = 'all of this is "said"\n'.repeat(12_000).slice(0, 256 * kib - opening.length - end.length);
const longestGame = Array.from({ length: 150 }, () => ["Nf3", "Nf6", "Ng1", "Ng8"]).flat();

const cases: readonly Case[] = [
  {
    name: "a batch of 70 long games",
    call: "evaluateBatch",
    message: { requests: Array.from({ length: 70 }, () => ({ fen: startFen, moves: longestGame })) },
    disconnectsEarly: true,
    daily: [],
  },
  {
    name: "256 KiB of Nf3 Nf6 Ng1 Ng8 as PGN",
    call: "reviewGame",
    message: { pgn: "Nf3 Nf6 Ng1 Ng8 ".repeat(16 * kib) },
    code: "out_of_range",
    daily: ["gRPC"],
  },
  {
    name: "256 KiB of empty requests in a batch",
    call: "evaluateBatch",
    message: { requests: Array.from({ length: 87_000 }, () => ({})) },
    code: "out_of_range",
  },
  {
    name: "20,000 open brackets",
    call: "evaluate",
    message: "[".repeat(20_000),
    code: "malformed_json",
    binaryCode: "invalid_type",
    mcpCode: "-32700",
  },
  {
    name: "64 KiB of empty moves",
    call: "evaluate",
    message: { fen: startFen, moves: Array.from({ length: 21_000 }, () => "") },
    code: "out_of_range",
    daily: ["gRPC"],
  },
  {
    name: "a review of exactly 262,144 bytes of PGN that JSON writes with escapes",
    call: "reviewGame",
    message: { pgn: opening + comment + end, depth: 1 },
    answer: /Qh4#/,
    daily: ["gRPC", "Connect JSON"],
  },
  {
    name: "an analysis behind 600 moves",
    call: "evaluate",
    message: { fen: startFen, moves: longestGame },
    answer: /w KQkq - 600 301/,
    daily: [],
  },
];

const bounds = { open: { peakBytes: 600e6 }, public: { peakBytes: 300e6 } } as const;

const codesOfConcurrency = ["rate_limited", "concurrency_limited", "overloaded"];
const overPlan = "upgrade_needed";
const grownMaxBytes = 200e6;
const count = 20;
const leavesAfterMs = 2000;

/** Fails unless each response is as expected or refuses the request because of too many concurrent requests. */
function expectAnswers(
  answers: readonly string[],
  { code = "ok", answer = /(?:)/ }: Pick<Case, "code" | "answer">,
) {
  expect(answers).toHaveLength(count);
  for (const text of answers) {
    expectAnswer(text, { code, answer }, codesOfConcurrency);
  }
}

function expectAnswer(
  text: string,
  { code = "ok", answer = /(?:)/ }: Pick<Case, "code" | "answer">,
  others: readonly string[] = [],
) {
  expect([code, ...others], text.slice(0, 300)).toContain(codeOf(text));
  if (codeOf(text) === "ok") {
    expect(text).toMatch(answer);
  }
}

function codeFor({ code, binaryCode, mcpCode }: Case, { name }: Pick<WayIn, "name">): string | undefined {
  const isBinary = ["Connect binary", "gRPC", "gRPC-Web"].includes(name);
  return (isBinary && binaryCode) || (name.startsWith("MCP") && mcpCode) || code;
}

/** Defines tests that send each request twenty times at once over each protocol. */
export function testTwentyAtATime(access: "open" | "public", isNightly: boolean): void {
  const { peakBytes } = bounds[access];
  const rows = cases.flatMap((one) =>
    waysIn
      .filter(({ name, calls }) => {
        const isDaily = one.daily?.includes(name) ?? true;
        return calls.includes(one.call) && (isNightly || isDaily);
      })
      .map((way) => ({ what: one.name, one, over: way.name, way })),
  );

  describe(`35: twenty concurrent requests, in ${access} mode`, () => {
    const service = useService({ KIBITZ_ACCESS: access });
    let callers = 0;

    test.each(rows)(`${access} mode: $what, twenty concurrent requests over $over`, async ({ one, way }) => {
      const code = codeFor(one, way);
      const expected = { ...one, ...(code && { code }) };
      if (!one.disconnectsEarly) {
        // The request is first sent alone, because twenty refusals may use up the error quota before the first response.
        const [alone = ""] = await way.send(service.url, one, 1, { localAddress: `127.0.12.${callers + 1}` });
        expectAnswer(alone, expected, ["overloaded"]);
      }
      const stop = await watchHealth(service, 5);
      const signal = one.disconnectsEarly && { signal: AbortSignal.timeout(leavesAfterMs) };
      const sender = { localAddress: `127.0.11.${++callers}`, ...signal };
      const [sent] = await Promise.allSettled([way.send(service.url, one, count, sender)]);
      const health = await stop();
      if (sent.status === "rejected") {
        expect(one.disconnectsEarly, String(sent.reason)).toBe(true);
      } else if (one.disconnectsEarly) {
        for (const text of sent.value) {
          expect(["ok", overPlan, ...codesOfConcurrency], text.slice(0, 300)).toContain(codeOf(text));
        }
      } else {
        expectAnswers(sent.value, expected);
      }
      expect(health.failed, JSON.stringify(health)).toBe(0);
      expect(health.peakBytes, JSON.stringify(health)).toBeLessThan(peakBytes);
      expect(health.grownBytes, JSON.stringify(health)).toBeLessThan(grownMaxBytes);
    });
  });
}

export function testTwentyOverStdio(): void {
  describe("35: twenty concurrent requests over standard input and output", () => {
    const folder = useTemporaryFolder();
    let agent: ChildProcess;
    let lines: Interface;

    beforeAll(async () => {
      const { command, args, env } = mcpProcess({ ...serviceSettings, KIBITZ_DATA_DIR: folder });
      agent = spawn(command, args, { env: { ...env }, stdio: ["pipe", "pipe", "inherit"] });
      lines = createInterface(agent.stdout as NodeJS.ReadableStream);
      await expectPong();
    });
    afterAll(async () => {
      const ended = once(agent, "exit");
      agent.stdin?.end();
      expect((await ended)[0]).toBe(0);
    });

    async function ask(sent: readonly string[]): Promise<readonly string[]> {
      const answers: string[] = [];
      const { promise, resolve } = Promise.withResolvers<void>();
      const keep = (line: string) => answers.push(line) === sent.length && resolve();
      lines.on("line", keep);
      agent.stdin?.write(sent.map((line) => `${line}\n`).join(""));
      await promise;
      lines.off("line", keep);
      return answers;
    }

    async function expectPong(): Promise<void> {
      const [pong] = await ask(['{"jsonrpc":"2.0","id":1,"method":"ping"}']);
      expect(JSON.parse(pong ?? "")).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    }

    test.each(cases.filter(({ call }) => call !== "evaluateBatch"))(
      "$name, twenty concurrent requests over standard input and output",
      async (one) => {
        const pid = agent.pid ?? 0;
        forgetPeak(pid);
        const { rssBytes } = vitalsOf(pid);
        const answers = await ask(Array.from({ length: count }, (_, id) => toolCallOf(one, id)));
        const code = codeFor(one, { name: "MCP" });
        expectAnswers(answers, { ...one, ...(code && { code }) });
        const { peakBytes } = vitalsOf(pid);
        expect(peakBytes).toBeLessThan(bounds.open.peakBytes);
        expect(peakBytes - rssBytes).toBeLessThan(grownMaxBytes);
        await expectPong();
      },
    );
  });
}
