import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { enginesRunning, processorMsOf } from "../../engine/processes.ts";
import { useApp } from "../../support/running-app.ts";
import { startStopwatch, timesOf } from "../../support/stopwatch.ts";
import { startFen } from "./cases/case.ts";

// One slot: the next search must wait until the engine is free.
const app = useApp({ KIBITZ_SLOTS: "1", KIBITZ_CACHE_MB: "0", KIBITZ_QUEUE_MAX_WAIT_MS: "600000" });
const tries = 20;

/** The search runs for about a minute if the caller does not disconnect. */
const long = { fen: startFen, depth: 30 };
const json = { "Content-Type": "application/json" };
const deadlineMs = 100;

const engine = () => enginesRunning()[0] ?? expect.fail("no engine runs");

async function inSearch(): Promise<void> {
  const before = processorMsOf(engine());
  await expect.poll(() => processorMsOf(engine()) - before, { interval: 10 }).toBeGreaterThan(30);
}

/** Returns the milliseconds from the disconnect until the engine has completed another request of depth 1. */
async function msUntilFree(leave: () => Promise<unknown>): Promise<number> {
  const sinceLeaving = startStopwatch(process.pid, engine());
  await leave();
  const answer = await fetch(`${app.url}/v1/eval`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ fen: startFen, depth: 1 }),
  });
  expect(answer.status).toBe(200);
  return sinceLeaving();
}

async function expectInTime(measure: () => Promise<number>): Promise<void> {
  const { medianMs, worstMs } = await timesOf(tries, measure);
  expect(medianMs).toBeLessThan(150);
  expect(worstMs).toBeLessThan(500);
}

test("the engine is free within 500 ms after a client of plain JSON has disconnected", async () => {
  await expectInTime(async () => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const body = JSON.stringify(long);
    const left = fetch(`${app.url}/v1/eval`, { method: "POST", headers: json, body, signal });
    const ended = expect(left).rejects.toThrow("left");
    await inSearch();
    return msUntilFree(async () => {
      leaving.abort(new Error("left"));
      await ended;
    });
  });
});

test("the engine is free within 500 ms after a gRPC client has cancelled its call", async () => {
  const sessionManager = new Http2SessionManager(app.url);
  onTestFinished(() => sessionManager.abort());
  const client = createClient(AnalysisService, createGrpcTransport({ baseUrl: app.url, sessionManager }));
  await expectInTime(async () => {
    const leaving = new AbortController();
    const left = client.evaluate(long, { signal: leaving.signal });
    const ended = expect(left).rejects.toMatchObject({ code: Code.Canceled });
    await inSearch();
    return msUntilFree(async () => {
      leaving.abort();
      await ended;
    });
  });
});

test("the engine is free within 500 ms after the deadline of a call has passed", async () => {
  await expectInTime(async () => {
    const answer = await fetch(`${app.url}/chess.analysis.v1.AnalysisService/Evaluate`, {
      method: "POST",
      headers: { ...json, "Connect-Timeout-Ms": String(deadlineMs) },
      body: JSON.stringify(long),
    });
    return msUntilFree(async () => expect(answer.status).toBe(504));
  });
});
