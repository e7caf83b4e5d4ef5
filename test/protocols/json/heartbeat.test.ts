import { once } from "node:events";
import { connect as connect2, constants } from "node:http2";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { create, type Message } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  EvaluateBatchResponseSchema,
  StreamEvaluateResponseSchema,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { ReviewGameResponseSchema } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import type { Handler } from "../../../src/calls/call.ts";
import { KibitzError } from "../../../src/errors/errors.ts";
import { heartbeatMs, type ServedGateway, serveGateway } from "./serve-gateway.ts";

const stream = vi.fn<Handler>();
const streams = {
  Evaluate: stream,
  FindBestMove: stream,
  StreamEvaluate: stream,
  EvaluateBatch: stream,
  ReviewGame: stream,
};

let served: ServedGateway;
beforeAll(async () => {
  served = await serveGateway({}, "http1", streams);
});
afterAll(() => served[Symbol.asyncDispose]());

const post = (path: string, body: unknown, accept: string) =>
  fetch(`${served.url}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", accept },
  });

const json = "application/json";
const lines = "application/x-ndjson";
const events = "text/event-stream";
const batch = { requests: [{ fen: "a" }, { fen: "b" }] };
const game = { moves: ["e4"] };

const evaluation = create(StreamEvaluateResponseSchema, { event: { case: "evaluation", value: {} } });
const item = (index: number) => create(EvaluateBatchResponseSchema, { index });
const waiting = create(ReviewGameResponseSchema, { event: { case: "queued", value: {} } });
const move = create(ReviewGameResponseSchema, { event: { case: "move", value: {} } });
const review = create(ReviewGameResponseSchema, { event: { case: "review", value: {} } });

/**
 * Sets the messages of the next response. An error in the list is thrown instead of sent.
 * @returns a function that lets the handler send the last message
 */
function answerLate(...messages: readonly (Message | Error)[]): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  // The last message is also released after a timeout, if no heartbeat arrives.
  setTimeout(resolve, 60 * heartbeatMs);
  stream.mockImplementation(async function* () {
    for (const [index, message] of messages.entries()) {
      if (index > 0 && index === messages.length - 1) {
        await promise;
      }
      if (message instanceof Error) {
        throw message;
      }
      yield message;
    }
  });
  return resolve;
}

/** Like {@link answerLate}, but the handler waits before its first message. A queue position is not sent in JSON. */
function answerAfterWait(...messages: readonly (Message | Error)[]): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, 60 * heartbeatMs);
  stream.mockImplementation(async function* () {
    await promise;
    for (const message of messages) {
      if (message instanceof Error) {
        throw message;
      }
      yield message;
    }
  });
  return resolve;
}

const comment = ": keep-alive\n\n";

const slowForms: readonly (readonly [
  name: string,
  path: string,
  body: object,
  accept: string,
  messages: readonly Message[],
  heartbeat: string,
])[] = [
  ["a batch as JSON", "/v1/eval/batch", batch, json, [item(0), item(1)], " "],
  ["a batch as lines", "/v1/eval/batch", batch, lines, [item(0), item(1)], " "],
  ["a review as JSON", "/v1/review", game, json, [waiting, review], " "],
  ["a review as lines", "/v1/review", game, lines, [move, review], " "],
  ["a review as events", "/v1/review", game, events, [move, review], comment],
];

/** Reads a response to its end. Calls `release` after the second heartbeat. */
async function read(response: Response, heartbeat: string, release: () => void): Promise<string> {
  let sent = "";
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    sent += part;
    if (sent.includes(heartbeat.repeat(2))) {
      release();
    }
  }
  return sent;
}

describe("a slow response", () => {
  it("an event stream gets comments as heartbeats between two events", async () => {
    const release = answerLate(evaluation, evaluation);
    const sent = await read(await post("/v1/eval/stream", {}, events), ": keep-alive\n\n", release);
    expect(sent).toMatch(/^event: evaluation\ndata: .*\n\n(: keep-alive\n\n){2,}event: evaluation\n/);
  });

  it.each([
    ["a batch", "/v1/eval/batch", batch, [item(1), item(0)]],
    ["a review", "/v1/review", game, [move, review]],
  ])(
    "the line stream of %s gets spaces as heartbeats, and no line is empty",
    async (_, path, body, messages) => {
      const release = answerLate(...messages);
      const sent = await read(await post(path, body, lines), " ", release);
      expect(sent).toMatch(/^\{.*\}\n {2,}\{.*\}\n$/);
      for (const line of sent.trimEnd().split("\n")) {
        JSON.parse(line);
      }
    },
  );

  it("a JSON array gets spaces as heartbeats between its items", async () => {
    const release = answerLate(item(0), item(1));
    const sent = await read(await post("/v1/eval/batch", batch, json), " ", release);
    expect(sent).toMatch(/^\[\{[^\n]*\} {2,},\n\{.*\}\]\n$/);
    expect(JSON.parse(sent)).toMatchObject([{ index: 0 }, { index: 1 }]);
  });

  it("a JSON array gets heartbeats while the first item is not ready, even if a later item is ready", async () => {
    const release = answerLate(item(1), item(0));
    const sent = await read(await post("/v1/eval/batch", batch, json), " ", release);
    expect(sent).toMatch(/^\[ {2,}\{/);
    expect(JSON.parse(sent)).toMatchObject([{ index: 0 }, { index: 1 }]);
  });

  it("a response with a JSON object begins with spaces as heartbeats while the object is not ready", async () => {
    const release = answerLate(move, review);
    const response = await post("/v1/review", game, json);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    const sent = await read(response, " ", release);
    expect(sent).toMatch(/^ {2,}\{/);
    expect(JSON.parse(sent)).toMatchObject({ moves: [] });
  });
});

describe("a response without a first message", () => {
  it.each(slowForms)(
    "%s gets heartbeats from the time of its request on, before the first message is ready",
    async (_, path, body, accept, last, heartbeat) => {
      const release = answerAfterWait(...last);
      const response = await post(path, body, accept);
      expect([response.status, response.headers.get("x-accel-buffering")]).toEqual([200, "no"]);
      const sent = await read(response, heartbeat, release);
      expect(sent.startsWith(heartbeat.repeat(2)) || sent.startsWith(`[${heartbeat}`), sent).toBe(true);
      expect(sent.trimStart().slice(heartbeat.length)).toMatch(/[}\]]\n+$/);
    },
  );

  it.each([
    [
      "the JSON array of a batch",
      "/v1/eval/batch",
      batch,
      json,
      /"code":"overloaded".*"code":"overloaded".*\]\n$/s,
    ],
    [
      "the lines of a batch",
      "/v1/eval/batch",
      batch,
      lines,
      /"code":"overloaded".*\n.*"code":"overloaded".*\n$/,
    ],
    ["the lines of a review", "/v1/review", game, lines, /\{"problem":.*"code":"overloaded"/],
    ["the events of a review", "/v1/review", game, events, /event: error\ndata: .*"code":"overloaded"/],
  ])(
    "if %s fail after a heartbeat and before the first message, the response contains the error",
    async (_, path, body, accept, error) => {
      const release = answerAfterWait(new KibitzError("overloaded", "busy", { retryAfterMs: 2000 }));
      const response = await post(path, body, accept);
      expect(response.status).toBe(200);
      expect(await read(response, accept === events ? comment : " ", release)).toMatch(error);
    },
  );

  it.each([
    ["a single evaluation", "/v1/eval", json],
    ["a best move", "/v1/bestmove", json],
    ["an event stream", "/v1/eval/stream", events],
  ])(
    "%s sends nothing before its first message, so that an error keeps its HTTP status",
    async (_, path, accept) => {
      setTimeout(
        answerAfterWait(new KibitzError("overloaded", "busy", { retryAfterMs: 2000 })),
        5 * heartbeatMs,
      );
      expect((await post(path, { fen: "startpos" }, accept)).status).toBe(503);
    },
  );

  it("a call ends if its client leaves before the first message", async () => {
    let ended = "";
    stream.mockImplementation(async function* (_, { signal }) {
      try {
        await once(signal, "abort");
        yield item(0);
      } finally {
        ended = signal.reason.constructor.name;
      }
    });
    const leaving = new AbortController();
    const body = JSON.stringify(batch);
    const headers = { "Content-Type": json };
    const answer = await fetch(`${served.url}/v1/eval/batch`, {
      method: "POST",
      body,
      headers,
      signal: leaving.signal,
    });
    leaving.abort();
    await expect(answer.text()).rejects.toThrow("abort");
    await expect.poll(() => ended).toBe("ClientDisconnected");
  });
});

it("a slow reader gets every part of a response complete", async () => {
  const large = (index: number) =>
    create(EvaluateBatchResponseSchema, {
      index,
      outcome: { case: "result", value: { summary: "x".repeat(5_000_000) } },
    });
  const release = answerLate(large(0), large(1));
  const socket = connect(served.port, "127.0.0.1").pause();
  const body = JSON.stringify(batch);
  socket.write(
    `POST /v1/eval/batch HTTP/1.0\r\nHost: a\r\nContent-Type: ${json}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await sleep(5 * heartbeatMs);
  release();
  await sleep(5 * heartbeatMs);
  const [, sent = ""] = (await text(socket)).split("\r\n\r\n");
  expect(JSON.parse(sent)).toMatchObject([{ index: 0 }, { index: 1 }]);
});

it("a quick JSON response has a Content-Length and no heartbeats", async () => {
  answerLate(review);
  const response = await post("/v1/review", game, json);
  const sent = await response.text();
  expect(sent).toMatch(/^\{/);
  expect(response.headers.get("content-length")).toBe(String(sent.length));
});

describe("an error in a slow JSON response", () => {
  const overloaded = new KibitzError("overloaded", "busy", { retryAfterMs: 2000 });

  it.each(slowForms)(
    "if %s fails before the first heartbeat, the error still has its HTTP status",
    async (_, path, body, accept) => {
      setTimeout(answerAfterWait(overloaded), heartbeatMs / 5);
      const response = await post(path, body, accept);
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
      expect(await response.json()).toMatchObject({ code: "overloaded" });
    },
  );

  it("if a call fails after a heartbeat over HTTP/1.1, the error is sent in the body, and the response is then aborted", async () => {
    const release = answerLate(move, overloaded);
    const response = await post("/v1/review", game, json);
    expect(response.status).toBe(200);
    const chunks: Uint8Array[] = [];
    const reading = (async () => {
      for await (const chunk of response.body ?? []) {
        chunks.push(chunk);
        release();
      }
    })();
    await expect(reading).rejects.toThrow("terminated");
    const sent = Buffer.concat(chunks).toString();
    expect(JSON.parse(sent)).toMatchObject({ status: 503, code: "overloaded", retry_after_ms: 2000 });
  });

  it("if a call fails after a heartbeat over HTTP/2, the error is sent in the body, and the response is then aborted", async () => {
    await using served2 = await serveGateway({}, "h2c", streams);
    const release = answerLate(move, overloaded);
    const session = connect2(served2.url);
    const request = session.request({
      ":method": "POST",
      ":path": "/v1/review",
      "content-type": json,
    });
    let sent = "";
    request.setEncoding("utf8").on("data", (part) => {
      sent += part;
      release();
    });
    request.end(JSON.stringify(game));
    await expect(once(request, "end")).rejects.toThrow("INTERNAL_ERROR");
    expect(request.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
    expect(JSON.parse(sent)).toMatchObject({ status: 503, code: "overloaded" });
    session.destroy();
  });
});
