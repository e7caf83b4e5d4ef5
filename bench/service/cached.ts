import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { lackOfH2load, loadAtRate, loadByH2load } from "./h2load.ts";
import type { BenchOptions } from "./options.ts";
import type { PeerSettings } from "./peer.ts";
import { kibitz, kibitzBeside, type StartedKibitz, startKibitz } from "./peers/kibitz.ts";
import { startProgram } from "./peers/programs.ts";
import type { Row } from "./rows.ts";
import { type Runner, takeTurns } from "./turns.ts";
import { loadByWrk } from "./wrk.ts";

const question = { fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", depth: 14 };
const callers = 8;

/** A rate in requests per second that every compared service can serve, even on a small machine. */
const perSecond = 2000;

/** Compares cached answers of Kibitz with a `node:http` server that always sends the same response. */
export async function measureCached(
  { rounds, warmSeconds, seconds, beside }: BenchOptions,
  settings: PeerSettings,
  onRow: (row: Row) => void,
): Promise<void> {
  const { folder, engine } = settings;
  const file = join(folder, "question.json");
  writeFileSync(file, JSON.stringify(question));
  const lack = await lackOfH2load();
  if (lack !== undefined) {
    console.log(`gRPC and the load at a rate are left out: ${lack}.`);
  }
  const started = new Map<string, StartedKibitz>([
    [kibitz.name, await startKibitz(settings)],
    ["Kibitz, open", await startKibitz(settings, { settings: { KIBITZ_ACCESS: "open" } })],
  ]);
  if (beside !== undefined) {
    started.set(kibitzBeside(beside).name, await startKibitz(settings, { checkout: beside }));
  }
  const runners: Runner[] = [];
  const atRate: Runner[] = [];
  const stops: (() => Promise<unknown>)[] = [];
  let answer = "";
  const timesFile = join(folder, "times.log");
  const askAtRate = (url: string, headers: StartedKibitz["headers"], known: string) => {
    const answerBytes = Buffer.byteLength(known);
    const load = { url, headers, bodyFile: file, answerBytes, callers, seconds, timesFile };
    return () => loadAtRate(load, perSecond);
  };
  for (const [name, { pid, load, server, headers, stop }] of started) {
    answer = await askedTwice(server.url, question, headers);
    await load({ file, callers, seconds: warmSeconds, repeats: true });
    runners.push({ name, pid, load: () => load({ file, callers, seconds, repeats: true }) });
    atRate.push({ name, pid, load: askAtRate(`${server.url}/v1/eval`, headers, answer) });
    if (lack === undefined) {
      const ask = await grpcLoad(server.url, headers, folder, timesFile);
      await ask(warmSeconds);
      runners.push({ name: `${name}, gRPC`, pid, load: () => ask(seconds) });
    }
    stops.push(stop);
  }
  const bare = await startProgram(process.execPath, "echo.ts", [], folder, answer);
  stops.push(bare.stop);
  const askBare = (duration: number) =>
    loadByWrk({ url: bare.url, headers: {}, file, callers, seconds: duration, repeats: true });
  await askBare(warmSeconds);
  const bareName = "bare node:http";
  runners.unshift({ name: bareName, pid: bare.pid, load: () => askBare(seconds) });
  atRate.unshift({ name: bareName, pid: bare.pid, load: askAtRate(bare.url, {}, answer) });
  const row = { kind: "cached", path: engine.path, depth: question.depth, callers } as const;
  try {
    onRow({ ...row, measured: await takeTurns(runners, rounds) });
    if (lack === undefined) {
      onRow({ ...row, perSecond, measured: await takeTurns(atRate, rounds) });
    }
  } finally {
    await Promise.all(stops.map((stop) => stop()));
  }
}

/** Sends the request twice, and returns the second response. Throws Error if the second response is not cached. */
export async function askedTwice(
  url: string,
  asked: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const ask = async () => {
    const response = await fetch(`${url}/v1/eval`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(asked),
    });
    return response.text();
  };
  await ask();
  const answer = await ask();
  if (!answer.includes('"cached":true')) {
    throw new Error(`not cached: ${answer}`);
  }
  return answer;
}

async function grpcLoad(
  url: string,
  headers: Readonly<Record<string, string>>,
  folder: string,
  timesFile: string,
) {
  const { evaluate } = AnalysisService.method;
  const client = createClient(AnalysisService, createGrpcTransport({ baseUrl: url }));
  const answer = await client.evaluate(question, { headers });
  const message = toBinary(evaluate.input, create(evaluate.input, question));
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  const bodyFile = join(folder, "question.grpc");
  writeFileSync(bodyFile, frame);
  return (seconds: number) =>
    loadByH2load({
      url: `${url}/${AnalysisService.typeName}/${evaluate.name}`,
      headers,
      bodyFile,
      answerBytes: 5 + toBinary(evaluate.output, answer).length,
      callers,
      seconds,
      timesFile,
    });
}
