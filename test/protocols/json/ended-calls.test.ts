import { once } from "node:events";
import { connect } from "node:net";
import { create, type Message } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  EvaluateBatchResponseSchema,
  GetPriceResponseSchema,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Handler } from "../../../src/calls/call.ts";
import { heartbeatMs, serveGateway } from "./serve-gateway.ts";

/** Returns a handler that sends messages, and how many of its calls have begun and ended. */
function countedHandler(generate: (signal: AbortSignal) => AsyncIterable<Message>) {
  const counts = { begun: 0, ended: 0 };
  const handler: Handler = async function* (_, { signal, outcome }) {
    counts.begun++;
    outcome.answerHeaders.set("etag", '"a"');
    try {
      yield* generate(signal);
    } finally {
      counts.ended++;
    }
  };
  return { counts, handler };
}

async function* untilLeft(signal: AbortSignal) {
  yield create(EvaluateBatchResponseSchema, { index: 1 });
  await once(signal, "abort");
  throw signal.reason;
}

test.each(["GET", "HEAD"])("a call by %s that is answered with 304 is read to its end", async (method) => {
  const { counts, handler } = countedHandler(async function* () {
    yield create(GetPriceResponseSchema);
  });
  await using served = await serveGateway({}, "http1", { GetPrice: handler });
  const answer = await fetch(`${served.url}/price`, { method, headers: { "if-none-match": '"a"' } });
  expect(answer.status).toBe(304);
  expect(counts).toEqual({ begun: 1, ended: 1 });
});

test("a call whose message cannot be read ends", async () => {
  const { counts, handler } = countedHandler(async function* () {
    // The framer reads the kind of the event, and this message has none.
    yield null as never;
  });
  await using served = await serveGateway({}, "http1", { ReviewGame: handler });
  const answer = await fetch(`${served.url}/v1/review`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: '{"moves":["e4"]}',
  });
  expect(answer.status).toBe(500);
  expect(counts).toEqual({ begun: 1, ended: 1 });
});

test.each([
  ["before its first heartbeat", 0],
  ["after its first heartbeat", 3 * heartbeatMs],
])("a batch whose client leaves %s ends", async (_, waitMs) => {
  const { counts, handler } = countedHandler(untilLeft);
  await using served = await serveGateway({}, "http1", { EvaluateBatch: handler });
  const body = '{"requests":[{"fen":"a"},{"fen":"b"}]}';
  const socket = connect(served.port, "127.0.0.1");
  socket.write(
    `POST /v1/eval/batch HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await expect.poll(() => counts.begun).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  socket.destroy();
  await expect.poll(() => counts.ended).toBe(1);
});
