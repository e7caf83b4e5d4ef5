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

/** Milliseconds. The time limit of a search without other limits. */
const searchMaxMs = 100;
/** The maximum memory of the server in bytes. The documentation promises this maximum. */
const promisedBytes = 200e6;

/** This many searches may stop too late, because a busy machine may pause an engine for 400 ms. */
const lateStopsMax = 3;
/** One more late stop is accepted for each 1000 inputs. */
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
 * Sends new searches so that both engines run, and returns the process ids of the engines. The halfmove clocks of the FENs are
 * `halfmoves` to `halfmoves + 9`, so that no search is cached.
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

/** Returns the new errors in the log. A small number of late stops is ignored. */
function complaints(): readonly string[] {
  const all = service.takeComplaints();
  const late = all.filter((line) => line.includes('"kind":"overtime"'));
  lateStops += late.length;
  const inputs = [...seen.values()].reduce((sum, count) => sum + count, 0);
  return lateStops > lateStopsMax + inputs / inputsPerLateStop
    ? all
    : all.filter((line) => !late.includes(line));
}

/** Sends all requests at once, and then expects that the server is healthy. */
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
  // The server writes its log lines every 20 ms. Lines about these inputs may appear at a later check.
  deepEqual(complaints(), []);
}

test("every random request gets a documented response, no engine dies, and the server uses less than 200 MB", async () => {
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
  // The server replaces an engine after some hours. If an engine died, the log has shown this earlier.
  equal((await warmUp(10)).length, engines.length, "an engine is gone");
  deepEqual(complaints(), []);
  const peakBytes = service.peakBytes();
  ok(peakBytes < promisedBytes, `the server took ${Math.round(peakBytes / 1e6)} MB`);
});
