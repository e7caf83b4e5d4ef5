import { describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { heads } from "./heads.ts";

const app = useApp({ KIBITZ_ACCESS: "public" }, { engines: createEnginesInProcess() });

const traceId = "0af7651916cd43dd8448eb211c80319c";
const parentId = "b7ad6b7169203331";
const traced = { traceparent: `00-${traceId}-${parentId}-01`, "X-Request-Id": "order-66" };

const requests = [
  ["an answer", { fen: startFen, depth: 1 }],
  ["an error", { fen: startFen, depth: 30 }],
] as const;

describe.each(heads)("through $name", ({ ask }) => {
  test.each(requests)("%s has the id of the request and a span of the client's trace", async (_, request) => {
    const { headers } = await ask(app.url, request, traced);
    expect(headers.get("x-request-id")).toBe("order-66");
    const span = new RegExp(`^00-${traceId}-(?!${parentId})([0-9a-f]{16})-01$`);
    expect(headers.get("traceparent")).toMatch(span);
    const spanId = span.exec(headers.get("traceparent") ?? "")?.[1];
    expect(app.logged).toContainEqual(
      expect.objectContaining({ requestId: "order-66", trace_id: traceId, span_id: spanId }),
    );
  });

  test.each(requests)(
    "%s has a new request id and no trace if the request has no id and no trace",
    async (_, request) => {
      const { headers } = await ask(app.url, request);
      expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers.get("traceparent")).toBeNull();
    },
  );

  test("an invalid request id is replaced, and an invalid trace is omitted", async () => {
    const { headers } = await ask(
      app.url,
      { fen: startFen, depth: 1 },
      { "X-Request-Id": "a b", traceparent: `00-${traceId}-${parentId}` },
    );
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get("traceparent")).toBeNull();
  });
});

test.each(["/", "/healthz", "/problems", "/nothing", "/engines"])(
  "GET %s returns the request id and the trace",
  async (path) => {
    const { headers } = await fetch(app.url + path, { headers: traced });
    expect(headers.get("x-request-id")).toBe("order-66");
    expect(headers.get("traceparent")).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  },
);
