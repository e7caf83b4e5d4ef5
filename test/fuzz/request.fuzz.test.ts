import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { afterAll, beforeAll, test } from "vitest";
import { countFromEnv } from "./budget.ts";
import { corpusOf, knownFens } from "./corpus.ts";
import { fuzz } from "./fuzz.ts";
import { checkReply } from "./request/check-reply.ts";
import { type FuzzedRequest, fuzzedRequest } from "./request/fuzzed-request.ts";
import { answerMaxMs, createSender, type Sender } from "./request/send-request.ts";
import { type StartedService, startService } from "./request/started-service.ts";

/** A search that nothing else ends is over then. */
const searchMaxMs = 100;
/** The most memory that the server may use, as the documentation promises. */
const promisedBytes = 200e6;

/**
 * An engine that gets no core of a busy machine for 400 ms is late with its stop, and replaced: at most so many times, and once more for
 * each so many inputs. One that does not stop is late at every other input.
 */
const lateStopsMax = 3;
const inputsPerLateStop = 1000;

let service: StartedService;
let sender: Sender;
let engines: readonly number[] = [];
let lateStops = 0;
const seen = new Map<string, number>();

const evaluate = (fen: string): FuzzedRequest => ({
  over: "http1",
  method: "POST",
  path: "/v1/eval",
  headers: [["Content-Type", "application/json"]],
  body: Buffer.from(JSON.stringify({ fen, depth: 8 })).toString("latin1"),
});

beforeAll(async () => {
  service = await startService(searchMaxMs);
  sender = createSender(service.port);
  engines = await warmUp(0);
  equal(engines.length, 2);
});

afterAll(async () => {
  sender[Symbol.dispose]();
  await service.stop();
});

/**
 * Two searches at a time that nobody asked for before, until both engines run: where the machine is busy, one search may be over
 * before the other one begins.
 *
 * @param halfmoves up to 9 more are used
 * @returns the engines that run then
 */
async function warmUp(halfmoves: number): Promise<readonly number[]> {
  const fens = ["4k3/8/8/8/8/8/8/R3K3 w - -", "4k3/8/8/8/8/8/8/4K2R w - -"];
  let more = 0;
  do {
    const clock = halfmoves + more++;
    await Promise.all(fens.map((fen) => sender.send(evaluate(`${fen} ${clock} 40`))));
  } while (more < 10 && service.engines().length < fens.length);
  return service.engines();
}

/** Returns the complaints in the log since the last call, except expected late stops. */
function complaints(): readonly string[] {
  const all = service.takeComplaints();
  const late = all.filter((line) => line.includes('"kind":"overtime"'));
  lateStops += late.length;
  const inputs = [...seen.values()].reduce((sum, count) => sum + count, 0);
  return lateStops > lateStopsMax + inputs / inputsPerLateStop
    ? all
    : all.filter((line) => !late.includes(line));
}

/** All at once, as callers come; then the service is asked whether it is well. */
async function check(requests: readonly FuzzedRequest[]): Promise<void> {
  await Promise.all(
    requests.map(async (request) => {
      const reply = await sender.send(request);
      const code = checkReply(request, reply) ?? "ok";
      seen.set(code, (seen.get(code) ?? 0) + 1);
    }),
  );
  const health = await fetch(`${service.url}/healthz`, { signal: AbortSignal.timeout(answerMaxMs) });
  equal(health.status, 200);
  await health.arrayBuffer();
  // Log lines are collected for 20 ms; those of the last inputs come with later ones, and their ids tell whose they are.
  deepEqual(complaints(), []);
}

test("every request is answered or refused as the contract says, no engine dies, and the server stays below 200 MB", async () => {
  await fuzz({
    name: "request",
    inputs: fc.array(fuzzedRequest, { minLength: 1, maxLength: 12 }),
    check,
    corpus: [
      ...corpusOf<FuzzedRequest>("request").map((request) => [request]),
      ...knownFens().map((fen) => [evaluate(fen)]),
    ],
    sizeOf: (requests) => requests.length,
    count: countFromEnv("FUZZ_REQUESTS"),
    figures: () => JSON.stringify(Object.fromEntries([...seen].toSorted(([, a], [, b]) => b - a))),
  });
  // In hours, an engine is replaced once for its age; one that died is in the log, which was read all the time.
  equal((await warmUp(10)).length, engines.length, "an engine is gone");
  deepEqual(complaints(), []);
  const peakBytes = service.peakBytes();
  ok(peakBytes < promisedBytes, `the server took ${Math.round(peakBytes / 1e6)} MB`);
});
