import { once } from "node:events";
import { connect as connect2 } from "node:http2";
import { connect } from "node:net";
import { create, type Message } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  EvaluateResponseSchema,
  StreamEvaluateResponseSchema,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Handler } from "../../../src/calls/call.ts";
import type { UnaryHandler } from "../../../src/calls/create-calls.ts";
import { KibitzError } from "../../../src/errors/errors.ts";
import { patienceMs } from "../../support/patience.ts";
import { depthViolation, type ServedGateway, serveGateway, startFen } from "./serve-gateway.ts";

const stream = vi.fn<Handler>();
const evaluate = vi.fn<UnaryHandler>(async () => create(EvaluateResponseSchema, { id: "whole" }));

let served: ServedGateway;
beforeAll(async () => {
  served = await serveGateway({ Evaluate: evaluate }, "http1", { StreamEvaluate: stream });
});
afterAll(() => served[Symbol.asyncDispose]());
beforeEach(() => {
  stream.mockReset().mockImplementation(() => states("a", "b"));
});

const state = (id: string, summary = "½\n♞") =>
  create(StreamEvaluateResponseSchema, { event: { case: "evaluation", value: { id, summary } } });

const queued = (place: number) =>
  create(StreamEvaluateResponseSchema, {
    event: { case: "queued", value: { place, expectedWaitMs: place * 100 } },
  });

async function* states(...items: readonly (string | Error)[]): AsyncGenerator<Message> {
  for (const item of items) {
    if (item instanceof Error) {
      throw item;
    }
    yield state(item);
  }
}

const post = (path: string, headers: Readonly<Record<string, string>> = {}, body = `{"fen":"${startFen}"}`) =>
  fetch(`${served.url}${path}`, {
    method: "POST",
    body,
    headers: { "Content-Type": "application/json", ...headers },
  });

function eventsOf(text: string): readonly (readonly [string, Record<string, unknown>])[] {
  return text
    .split("\n\n")
    .filter((block) => block !== "" && !block.startsWith(":"))
    .map((block) => {
      const [, name = "", data = ""] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      return [name, JSON.parse(data)] as const;
    });
}

describe("event streams", () => {
  it("an event stream has an event for every evaluation, and repeats the last evaluation in the event done", async () => {
    const response = await post("/v1/eval/stream", { "X-Request-Id": "mine" });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
      "x-request-id": "mine",
    });
    const events = eventsOf(await response.text());
    expect(events.map(([name, { id }]) => [name, id])).toEqual([
      ["evaluation", "a"],
      ["evaluation", "b"],
      ["done", "b"],
    ]);
    expect(events[2]?.[1]).toEqual(events[1]?.[1]);
    // Unset fields are null, and line breaks are escaped.
    expect(events[0]?.[1]).toMatchObject({ best_move: null, lines: [], summary: "½\n♞" });
  });

  it("an event stream names each event after its kind, and repeats only the last evaluation in the event done", async () => {
    stream.mockImplementation(async function* () {
      yield queued(2);
      yield queued(1);
      // A newer version may send unknown events.
      yield create(StreamEvaluateResponseSchema);
      yield state("a");
    });
    const events = eventsOf(await (await post("/v1/eval/stream")).text());
    expect(events.slice(0, 2)).toEqual([
      ["queued", { place: 2, expected_wait_ms: 200 }],
      ["queued", { place: 1, expected_wait_ms: 100 }],
    ]);
    expect(events.slice(2)).toMatchObject([
      ["evaluation", { id: "a", lines: [] }],
      ["done", { id: "a", lines: [] }],
    ]);
  });

  it.each(["text/event-stream", "text/event-stream, application/json;q=0.9"])(
    "/v1/eval responds with an event stream to Accept: %s",
    async (accept) => {
      const text = await (await post("/v1/eval", { accept })).text();
      expect(text).toBe(await (await post("/v1/eval/stream")).text());
    },
  );

  it.each(["*/*", "application/json", "application/json, text/event-stream", "text/event-stream;q=0, */*"])(
    "/v1/eval does not respond with an event stream to Accept: %s",
    async (accept) => {
      expect(await (await post("/v1/eval", { accept })).json()).toMatchObject({ id: "whole" });
    },
  );

  it("a request to an event stream is refused if the caller does not accept event streams", async () => {
    const response = await post("/v1/eval/stream", { accept: "application/json" });
    expect([response.status, await response.json()]).toMatchObject([406, { code: "not_acceptable" }]);
  });
});

describe("an error", () => {
  it.each(["*/*", "text/event-stream"])(
    "if a stream fails before the first event, the error is an ordinary problem document, with Accept: %s",
    async (accept) => {
      stream.mockImplementation(() =>
        states(new KibitzError("out_of_range", "too deep", { violations: [depthViolation] })),
      );
      const response = await post("/v1/eval/stream", { accept }, `{"fen":"${startFen}","depth":99}`);
      expect([response.status, response.headers.get("content-type")]).toEqual([
        400,
        "application/problem+json",
      ]);
      expect(await response.json()).toMatchObject({ code: "out_of_range" });
    },
  );

  it.each([
    [new KibitzError("engine_timeout", "slow"), "engine_timeout", 504],
    [new Error("secret"), "internal", 500],
  ])(
    "if a stream fails after the first event, the error is sent as the last event: %s",
    async (error, code, status) => {
      stream.mockImplementation(() => states("a", error));
      const response = await post("/v1/eval/stream", { "X-Request-Id": "mine" });
      const text = await response.text();
      const events = eventsOf(text);
      expect(events.map(([name]) => name)).toEqual(["evaluation", "error"]);
      expect(events[1]?.[1]).toMatchObject({ type: expect.any(String), code, status, request_id: "mine" });
      expect(text).not.toContain("secret");
    },
  );
});

/** A few messages of this size fill all buffers between the server and a client that does not read. */
const large = "x".repeat(500_000);

/**
 * Makes the handler return an endless stream. `taken` counts the messages, and `left` resolves when the reader stops reading.
 */
function endless() {
  const left = Promise.withResolvers<AbortSignal>();
  const seen = { taken: 0, left: left.promise };
  stream.mockImplementation(async function* (_, { signal }) {
    try {
      for (;;) {
        seen.taken++;
        yield state("a", large);
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      left.resolve(signal);
    }
  });
  return seen;
}

/** Calls `read` until it returns the same number twice, and returns this number. */
async function settled(read: () => number): Promise<number> {
  for (let before = -1; before !== read(); ) {
    before = read();
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  return read();
}

const head = (port: number) =>
  `POST /v1/eval/stream HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\nContent-Length: ${startFen.length + 10}\r\n\r\n{"fen":"${startFen}"}`;

describe("a reader", () => {
  it("a stream over HTTP/1.1 waits for a slow reader, and ends when the reader disconnects", async () => {
    const seen = endless();
    const socket = connect(served.port, "127.0.0.1");
    socket.pause();
    socket.write(head(served.port));
    await vi.waitFor(() => expect(seen.taken).toBeGreaterThan(0), patienceMs);
    expect(await settled(() => seen.taken)).toBeLessThan(100);
    socket.destroy();
    expect((await seen.left).aborted).toBe(true);
  });

  it("a stream over HTTP/2 waits for a slow reader, and ends when the reader disconnects", async () => {
    await using served2 = await serveGateway({}, "h2c", { StreamEvaluate: stream });
    const seen = endless();
    const session = connect2(served2.url);
    const request = session.request({
      ":method": "POST",
      ":path": "/v1/eval/stream",
      "content-type": "application/json",
    });
    request.end(`{"fen":"${startFen}"}`);
    const [headers] = await once(request, "response");
    expect(headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    expect(await settled(() => seen.taken)).toBeLessThan(100);
    request.close();
    expect((await seen.left).aborted).toBe(true);
    session.destroy();
  });
});
