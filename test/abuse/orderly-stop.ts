import { connect } from "node:net";
import { expect } from "vitest";
import { stillRunning } from "../engine/processes.ts";
import { answersFrom, open, rawRequest } from "../support/raw-http.ts";
import { post } from "./ask.ts";
import { expectProblem } from "./expect-problem.ts";
import { type OwnService, startFen } from "./started-service.ts";

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Sends SIGTERM while searches run. The service must complete all these searches, refuse later requests, and stop every engine.
 */
export async function expectOrderlyStop(service: OwnService): Promise<void> {
  const search = { fen: startFen, depth: 30, movetime_ms: 1000 };
  // Each request uses a new connection and starts its own search.
  const asked = [0, 1, 2].map((more) => post(`${service.url}/v1/eval`, { ...search, multipv: 1 + more }));
  const streamed = post(`${service.url}/v1/eval/stream`, { ...search, multipv: 4 });

  // This connection has sent a request. It sends two more requests after SIGTERM.
  const busy = await open(service.port);
  const body = JSON.stringify({ ...search, depth: 29 });
  busy.socket.write(
    rawRequest("POST /v1/eval", ["Content-Type: application/json", `Content-Length: ${body.length}`], body),
  );

  await sleep(500);
  const engines = service.engines();
  expect(engines.length).toBeGreaterThan(0);
  const stopping = service.stop();
  await sleep(200);
  busy.socket.write(rawRequest("GET /readyz"));
  const more = JSON.stringify({ fen: startFen, depth: 1 });
  busy.socket.write(
    rawRequest("POST /v1/eval", ["Content-Type: application/json", `Content-Length: ${more.length}`], more),
  );
  const late = connect(service.port, "127.0.0.1");
  const refused = await new Promise<string>((resolve) => {
    late.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
    late.on("connect", () => resolve("taken"));
  });
  expect(refused).toBe("ECONNREFUSED");

  for (const { status, body: answer } of await Promise.all(asked)) {
    expect(status, answer).toBe(200);
  }
  expect((await streamed).body).toContain("event: done");
  // The service either closes the connection after the first response, or refuses the two later requests with `shutting_down`.
  const [first, ...rest] = answersFrom(await busy.closed);
  expect(first?.status).toBe(200);
  for (const answer of rest) {
    expectProblem(answer, { status: 503, code: "shutting_down" });
  }
  expect(await stopping).toBe(0);
  expect(stillRunning(engines)).toEqual([]);
}
