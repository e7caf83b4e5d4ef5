import { execFile } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { promisify } from "node:util";
import type { Loaded } from "./loaded.ts";
import { quantile } from "./statistics.ts";

const run = promisify(execFile);

interface H2Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyFile: string;
  /** The expected size of a response. A gRPC error also has the status 200, but another size. */
  readonly answerBytes: number;
  /** Each caller has a connection with one request in flight. */
  readonly callers: number;
  readonly seconds: number;
  readonly timesFile: string;
}

export async function lackOfH2load(): Promise<string | undefined> {
  return run("h2load", ["--version"]).then(
    () => undefined,
    () =>
      "no h2load, which makes the load of gRPC, and load at a rate (Debian: apt-get install nghttp2-client)",
  );
}

/** Repeats one gRPC request as fast as possible. Throws Error if a response has another size. */
export function loadByH2load(load: H2Load): Promise<Loaded> {
  const headers = { "content-type": "application/grpc", te: "trailers", ...load.headers };
  return loadBy({ ...load, headers }, ["--max-concurrent-streams=1"]);
}

/** `perSecond` is the total rate of all callers. Throws Error if a response has another size. */
export function loadAtRate(load: H2Load, perSecond: number): Promise<Loaded> {
  const headers = { "content-type": "application/json", ...load.headers };
  return loadBy({ ...load, headers }, ["--h1", `--rps=${perSecond / load.callers}`]);
}

async function loadBy(load: H2Load, more: readonly string[]): Promise<Loaded> {
  // Delete the old log, because h2load appends to it.
  rmSync(load.timesFile, { force: true });
  const { stdout } = await run("h2load", [
    `--clients=${load.callers}`,
    "--threads=1",
    `--duration=${load.seconds}`,
    `--data=${load.bodyFile}`,
    ...Object.entries(load.headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]),
    `--log-file=${load.timesFile}`,
    ...more,
    load.url,
  ]);
  const requests = readH2load(stdout, load.answerBytes);
  const tookMs = readFileSync(load.timesFile, "utf8")
    .trim()
    .split("\n")
    .map((line) => Number(line.split("\t")[2]) / 1000)
    .toSorted((a, b) => a - b);
  return {
    requests,
    seconds: load.seconds,
    p50Ms: quantile(tookMs, 0.5),
    p99Ms: quantile(tookMs, 0.99),
  };
}

function readH2load(stdout: string, answerBytes: number): number {
  const [, done, succeeded, failed, errored, timedOut] =
    /(\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout/.exec(stdout)?.map(Number) ?? [];
  const [, dataBytes] = /\((\d+)\) data$/m.exec(stdout)?.map(Number) ?? [];
  if (!done || done !== succeeded || failed || errored || timedOut) {
    throw new Error(`not all calls were answered with success:\n${stdout}`);
  }
  // Use `<`, because h2load counts the bytes of an incomplete last response, but not its request.
  if (dataBytes === undefined || dataBytes < done * answerBytes) {
    throw new Error(
      `${done} answers of ${answerBytes} bytes are more than ${dataBytes} bytes: some were refused`,
    );
  }
  return done;
}
