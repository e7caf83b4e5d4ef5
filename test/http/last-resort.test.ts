import { expect, test } from "vitest";
import { KibitzError } from "../../src/errors/errors.ts";
import type { ListenerOptions } from "../../src/http/listener/listener.ts";
import type { RequestHandler } from "../../src/http/message.ts";
import { exchange } from "../support/raw-http.ts";
import { http2Get } from "./http2-get.ts";
import { startListener } from "./start-listener.ts";

function broken(what: string): never {
  throw new Error(`${what} is broken`);
}

const brokenHandler: RequestHandler = ({ url }) => url === "/broken" && broken("the handler");

const beginsAndBreaks: RequestHandler = ({ url }, res) => {
  if (url !== "/broken") {
    return false;
  }
  (res as NodeJS.WritableStream).write("begun");
  broken("the handler");
};

/** What the listener is given, with a fault in one of its parts. */
const faults: readonly (readonly [string, Partial<ListenerOptions>])[] = [
  ["the refusal of a call", { refuse: () => broken("refuse") }],
  ["the log", { log: { error: () => broken("the log"), warn: () => {} } }],
  ["the log line of a refusal", { reportRefused: () => broken("reportRefused") }],
  ["the span", { beginSpan: () => broken("beginSpan") }],
  ["CORS", { corsOrigins: Object.assign([], { find: () => broken("cors") }) }],
  ["the test for RPC paths", { isRpcPath: () => broken("isRpcPath") }],
  [
    "the test for RPC paths and the log",
    { isRpcPath: () => broken("isRpcPath"), log: { error: () => broken("the log"), warn: () => {} } },
  ],
];

test.each(faults)(
  "a handler that throws gets its caller a 500 over HTTP/1.1 and HTTP/2, even if %s throws too",
  async (_, fault) => {
    const { port, base } = await startListener([brokenHandler], {}, undefined, fault);
    const answer = await exchange(port, "GET /broken HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 500 Internal Server Error\r\n/);
    expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))).toMatchObject({
      code: "internal",
      status: 500,
    });
    const second = await http2Get(base, { ":path": "/broken" });
    expect(JSON.parse(second.body)).toMatchObject({ code: "internal", status: 500 });
    expect(second.status).toBe(500);
  },
);

test("a handler that throws after it has begun its answer gets the answer cut off, and the server goes on", async () => {
  const { port, base } = await startListener([beginsAndBreaks]);
  expect(await exchange(port, "GET /broken HTTP/1.1\r\nHost: x\r\n\r\n")).not.toContain("\r\n0\r\n");
  await expect(http2Get(base, { ":path": "/broken" })).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
  expect((await fetch(`${base}/healthz`)).ok).toBe(true);
});

test("the steps after a response all run, even if the first one throws", async () => {
  let answered = 0;
  const span = {
    traceparent: "",
    span: undefined as never,
    logged: () => {},
    answered: () => void answered++,
  };
  const { base } = await startListener(
    [
      () => {
        throw new KibitzError("not_found", "nothing");
      },
    ],
    {},
    undefined,
    {
      reportRefused: () => broken("reportRefused"),
      beginSpan: () => span,
    },
  );
  expect((await fetch(`${base}/nothing`)).status).toBe(404);
  await expect.poll(() => answered).toBe(1);
});
