import { Code, ConnectError, createConnectRouter, type Interceptor } from "@connectrpc/connect";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { compressionGzip } from "@connectrpc/connect-node";
import { expect } from "vitest";
import {
  AnalysisService,
  type EvaluateBatchRequest,
} from "../../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { ErrorCode } from "../../../../src/errors/catalog.ts";
import { errorFromConnect } from "../../../../src/protocols/connect/errors.ts";
import { envelope } from "../../../support/envelope.ts";
import { type BareCall, callBare, type Faults } from "./bare-library.ts";

const strict = {
  jsonOptions: { ignoreUnknownFields: false },
  acceptCompression: [compressionGzip],
  readMaxBytes: 1000,
};

const json = { "content-type": "application/json" };
const binary = { "content-type": "application/proto" };
const streamed = { "content-type": "application/connect+json" };

/** Calls that Connect refuses. Kibitz recognises the cause (`means`) only by the text of Connect's error (`reading`). */
const refused: readonly (readonly [
  call: BareCall,
  means: ErrorCode,
  reading: RegExp,
  name?: "StreamEvaluate",
])[] = [
  [{ header: binary, body: Buffer.of(0x0a, 0xff) }, "invalid_type", /parse binary/],
  [{ body: " ".repeat(1001) }, "body_too_large", /^The message is larger than 1000 bytes/],
  [{ header: { ...json, "content-encoding": "zip" } }, "unsupported_media_type", /unknown compression "zip"/],
  [{ header: { ...json, "content-encoding": "gzip" } }, "malformed_http", /decompression failed/],
  [
    { header: streamed, body: envelope("{}", 1) },
    "malformed_http",
    /received compressed envelope/,
    "StreamEvaluate",
  ],
  [{ header: streamed, body: Buffer.alloc(3) }, "malformed_http", /protocol error/, "StreamEvaluate"],
];

function errorIn(text: string): ConnectError {
  const found = JSON.parse(text.slice(text.indexOf("{")));
  const { code, message, details } = found.error ?? found;
  const error = new ConnectError(message, codeFromString(code));
  error.details = details ?? [];
  return error;
}

export const faultsOfConnect: Faults = {
  async "Streams without side effects list GET as allowed, but refuse GET requests."() {
    const router = createConnectRouter().service(AnalysisService, {});
    const handler = router.handlers.find(({ method }) => method === AnalysisService.method.streamEvaluate);
    expect(handler?.allowedMethods).toContain("GET");
    const query = "?encoding=json&message=%7B%7D";
    expect((await callBare("StreamEvaluate", { method: "GET", query, header: {} }, {})).status).toBe(415);
  },

  async "A request with a wrong method or media type is refused without calling the request gate."() {
    let asked = 0;
    const requestGate = () => void asked++;
    const { status } = await callBare(
      "Evaluate",
      { header: { "content-type": "text/plain" } },
      {},
      { requestGate },
    );
    expect({ status, asked }).toEqual({ status: 415, asked: 0 });
    await callBare("Evaluate", { body: "{" }, {}, { requestGate });
    expect(asked).toBe(1);
  },

  async "A deadline that is too long for Node timers passes immediately."() {
    const longest = { ...json, "connect-timeout-ms": String(2 ** 31) };
    const { text } = await callBare(
      "ListEngines",
      { header: longest },
      {
        async listEngines(_, { signal }) {
          await expect.poll(() => signal.aborted).toBe(true);
          signal.throwIfAborted();
          return {};
        },
      },
    );
    expect(errorIn(text).code).toBe(Code.DeadlineExceeded);
  },

  "`grpc-message` is escaped as a URI component: clients that read it with decodeURI show `%3A`."() {
    const trailer = setTrailerStatus(new Headers(), new ConnectError("fen: bad"));
    expect(trailer.get("grpc-message")).toBe("fen%3A%20bad");
  },

  "An unpaired surrogate in an error message throws when gRPC sends the message."() {
    expect(() => setTrailerStatus(new Headers(), new ConnectError("\ud800"))).toThrow(URIError);
  },

  async "A GET with broken base64 counts as a failure of the server."() {
    const query = "?encoding=json&base64=1&message=!";
    const { status } = await callBare(
      "ListEngines",
      { method: "GET", query, header: {} },
      { listEngines: () => ({}) },
    );
    expect(status).toBe(500);
  },

  async "Errors of Connect itself bypass all interceptors and have no details."() {
    let calls = 0;
    const interceptor: Interceptor = (next) => (request) => {
      calls++;
      return next(request);
    };
    const { status, text } = await callBare("Evaluate", { body: "{" }, {}, { interceptors: [interceptor] });
    expect({ status, calls }).toEqual({ status: 400, calls: 0 });
    expect(errorIn(text).details).toEqual([]);
  },

  async "A body that is not a message counts as a failure of the server."() {
    const { status } = await callBare("Evaluate", { header: binary, body: Buffer.of(0x0a, 0xff) }, {});
    expect(status).toBe(500);
  },

  async "Errors of Connect itself can be distinguished only by their texts."() {
    for (const [call, code, reading, name = "Evaluate"] of refused) {
      const error = errorIn((await callBare(name, call, {}, strict)).text);
      expect(error.details, error.rawMessage).toEqual([]);
      const read = errorFromConnect(error, AnalysisService.method.evaluate.input);
      expect(read, error.rawMessage).toMatchObject({ code, message: expect.stringMatching(reading) });
    }
  },

  async "A message is decoded without pauses, even if this blocks the thread for long."() {
    const body = envelope(JSON.stringify({ requests: Array(20_000).fill({}) }));
    let others = 0;
    setImmediate(() => others++);
    const service = {
      async *evaluateBatch({ requests }: EvaluateBatchRequest) {
        expect({ others, decoded: requests.length }).toEqual({ others: 0, decoded: 20_000 });
        yield {};
      },
    };
    const { text } = await callBare("EvaluateBatch", { header: streamed, body }, service);
    expect(text).not.toContain("error");
    await new Promise(setImmediate);
    expect(others).toBe(1);
  },

  async "A message may have any number of keys, and all are decoded."() {
    const options = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [index, null]));
    let keys = 0;
    await callBare(
      "Evaluate",
      { body: JSON.stringify({ options }) },
      {
        evaluate({ options }) {
          keys = Object.keys(options ?? {}).length;
          return {};
        },
      },
    );
    expect(keys).toBe(5000);
  },
};
