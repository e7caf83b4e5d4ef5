import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import { KeyService } from "../../gen/chess/analysis/v1/key_service_pb.ts";
import { readMaxBytesOf, rpcMaxBytesOf } from "../../src/calls/policy.ts";
import { listenerLimits } from "../../src/http/listener/limits.ts";
import { logFields } from "../../src/log/log.ts";

const text = readFileSync(new URL("../../docs/running.md", import.meta.url), "utf8");
const lock = readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8");
const installed: Readonly<Record<string, { readonly dev?: true; readonly hasInstallScript?: true }>> =
  JSON.parse(lock).packages;
const { evaluate, evaluateBatch } = AnalysisService.method;
const { reviewGame } = GameService.method;
const { createKey } = KeyService.method;

function cellOf(first: string): string | undefined {
  return text
    .split("\n")
    .map((line) => line.split(" | "))
    .find(([name]) => name === `| ${first}`)?.[1]
    ?.replace(/ \|$/, "");
}

describe("docs/running.md", () => {
  test("docs/running.md has the current maximum sizes of requests", () => {
    const single = `${readMaxBytesOf(evaluate) / 1024} KiB`;
    const ofRpc = `${rpcMaxBytesOf(evaluateBatch) / 1024} KiB over gRPC, gRPC-Web and Connect`;
    const batch = `${readMaxBytesOf(evaluateBatch) / 1024 / 1024} MiB (${ofRpc})`;
    const review = `${readMaxBytesOf(reviewGame) / 1024} KiB`;
    expect(cellOf("body of an analysis, of a review, of a batch, and of any other call")).toContain(
      `${single}, ${review}, ${batch}, ${readMaxBytesOf(createKey) / 1024} KiB;`,
    );
    expect(cellOf("headers of a request; `Host` and `Origin`")).toBe(
      `${listenerLimits.headersMaxBytes / 1024} KiB; 300 bytes`,
    );
  });

  test("docs/running.md has the current limits of connections", () => {
    const seconds = (ms: number) => `${ms / 1000} s`;
    const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, silenceTimeoutMs } = listenerLimits;
    expect(cellOf("time for headers, for a whole request")).toBe(
      `${seconds(headersTimeoutMs)}, ${seconds(requestTimeoutMs)}`,
    );
    expect(cellOf("an idle connection; a connection without a byte in either direction")).toBe(
      `${seconds(keepAliveTimeoutMs)}; ${seconds(silenceTimeoutMs)}`,
    );
    expect(cellOf("concurrent calls on an HTTP/1.1 connection, on an HTTP/2 connection, in all")).toBe(
      `1, ${listenerLimits.streamsMax}, ${listenerLimits.callsMax}`,
    );
    expect(
      cellOf(
        "pipelined requests that wait on an HTTP/1.1 connection; with more, it ends after the current answer",
      ),
    ).toBe(String(listenerLimits.requestsWaitingMax));
  });

  test("docs/running.md names the installed packages with an install script, and no other", () => {
    const [, section = ""] = /\n### What npm says about install scripts\n(.+?)\n###? /s.exec(text) ?? [];
    const named = [...section.matchAll(/the script of\s`(.+?)`/g)].map(([, name]) => name);
    const paths = Object.entries(installed)
      .filter(([, { dev, hasInstallScript }]) => hasInstallScript && !dev)
      .map(([path]) => path);
    expect(named.map((name) => `node_modules/${name}`).toSorted()).toEqual(paths.toSorted());
  });

  test("docs/running.md names only existing log fields", () => {
    const [, section = ""] = text.split("\n## The log\n");
    const cells = [...section.matchAll(/^\| (`.*?) \|/gm)].map(([, cell = ""]) => cell);
    const named = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));
    expect(named).toContain("protocol");
    expect(named.filter((name) => !logFields.has(name))).toEqual([]);
  });
});
