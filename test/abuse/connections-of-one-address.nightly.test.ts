import { onTestFinished, test } from "vitest";
import { rawRequest } from "../support/raw-http.ts";
import { expectOthersAnswered, floodWithConnections } from "./connection-flood.ts";
import { flag, frame, frameType, headerBlock, requestFields } from "./frames.ts";
import { useService } from "./started-service.ts";

const service = useService({ KIBITZ_ACCESS: "public" });

const json = "Content-Type: application/json";
const halfCalls = Array.from({ length: 10 }, (_, count) =>
  frame(
    frameType.headers,
    flag.endHeaders,
    2 * count + 1,
    headerBlock(requestFields("POST", "/v1/eval", { "content-type": "application/json" })),
  ),
);

/** Each connection sends these bytes and then stays open. */
const kinds: Readonly<Record<string, string | Uint8Array>> = {
  nothing: "",
  "a probe": rawRequest("GET /healthz"),
  "half a request": "POST /v1/ev",
  "half a body": rawRequest("POST /v1/eval", [json, "Content-Length: 1000"], "{"),
  "a call for a large page that it does not take": rawRequest("GET /docs/swagger-ui-bundle.js"),
  "the half of ten calls over HTTP/2": Buffer.concat([
    Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    frame(frameType.settings, 0, 0),
    ...halfCalls,
  ]),
};

test.each(Object.entries(kinds))(
  "other callers can connect while 2,000 connections from one address each send %s",
  async (_, bytes) => {
    // One address may have 256 connections.
    const flooding = floodWithConnections(service, 2000, () => "127.0.0.2", bytes);
    onTestFinished(async () => (await flooding)[1]());
    await expectOthersAnswered(service, flooding);
  },
);
