import { Code, ConnectError, createConnectRouter, type Interceptor } from "@connectrpc/connect";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { compressionGzip } from "@connectrpc/connect-node";
import { expect } from "vitest";
import {
  AnalysisService,
  type EvaluateBatchRequest,
} from "../../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { ErrorCode } from "../../../../src/errors/catalogue.ts";
import { errorFromConnect } from "../../../../src/protocols/connect/errors.ts";
import { type BareCall, callBare, envelope, type ShowFault } from "./bare-library.ts";

const strict = {
  jsonOptions: { ignoreUnknownFields: false },
  acceptCompression: [compressionGzip],
  readMaxBytes: 1000,
};

const json = { "content-type": "application/json" };
const binary = { "content-type": "application/proto" };
const streamed = { "content-type": "application/connect+json" };

/** What Connect refuses by itself, in a text that only people read, and what we read in that. */
const refused: readonly (readonly [
  call: BareCall,
  means: ErrorCode,
  reading: RegExp,
  name?: "StreamEvaluate",
])[] = [
  [{ header: binary, body: Buffer.of(0x0a, 0xff) }, "invalid_type", /^The bytes are not a valid/],
  [{ body: " ".repeat(1001) }, "body_too_large", /^The message is larger than 1000 bytes/],
  [
    { header: { ...json, "content-encoding": "zip" } },
    "unsupported_media_type",
    /^The encoding "zip" is not/,
  ],
  [{ header: { ...json, "content-encoding": "gzip" } }, "malformed_http", /^The message is not encoded as/],
  [
    { header: streamed, body: envelope("{}", 1) },
    "malformed_http",
    /^The message is marked as/,
    "StreamEvaluate",
  ],
  [
    { header: streamed, body: Buffer.alloc(3) },
    "malformed_http",
    /^The call cannot be read/,
    "StreamEvaluate",
  ],
];

/** The error in an answer of Connect's, as a client has it. */
function errorIn(text: string): ConnectError {
  const found = JSON.parse(text.slice(text.indexOf("{")));
  const { code, message, details } = found.error ?? found;
  const error = new ConnectError(message, codeFromString(code));
  error.details = details ?? [];
  return error;
}

/** What is wrong with connect, by the repair that works around it. */
export const faultsOfConnect = {
  async allowPostForStreams() {
    const router = createConnectRouter().service(AnalysisService, {});
    const handler = router.handlers.find(({ method }) => method === AnalysisService.method.streamEvaluate);
    expect(handler?.allowedMethods).toContain("GET");
    const query = "?encoding=json&message=%7B%7D";
    expect((await callBare("StreamEvaluate", { method: "GET", query, header: {} }, {})).status).toBe(415);
  },

  async askWhoIsRefused() {
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

  async dropLongTimeout() {
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

  fixGrpcMessageEncoding() {
    const trailer = setTrailerStatus(new Headers(), new ConnectError("fen: bad"));
    expect(trailer.get("grpc-message")).toBe("fen%3A%20bad");
  },

  keepErrorsWellFormed() {
    expect(() => setTrailerStatus(new Headers(), new ConnectError("\ud800"))).toThrow(URIError);
  },

  async refuseBrokenBase64() {
    const query = "?encoding=json&base64=1&message=!";
    const { status } = await callBare(
      "ListEngines",
      { method: "GET", query, header: {} },
      { listEngines: () => ({}) },
    );
    expect(status).toBe(500);
  },

  async completeErrors() {
    let calls = 0;
    const interceptor: Interceptor = (next) => (request) => {
      calls++;
      return next(request);
    };
    const { status, text } = await callBare("Evaluate", { body: "{" }, {}, { interceptors: [interceptor] });
    expect({ status, calls }).toEqual({ status: 400, calls: 0 });
    expect(errorIn(text).details).toEqual([]);
  },

  async blameUnreadableBytes() {
    const { status } = await callBare("Evaluate", { header: binary, body: Buffer.of(0x0a, 0xff) }, {});
    expect(status).toBe(500);
  },

  async tellErrorsByText() {
    for (const [call, code, reading, name = "Evaluate"] of refused) {
      const error = errorIn((await callBare(name, call, {}, strict)).text);
      expect(error.details, error.rawMessage).toEqual([]);
      const read = errorFromConnect(error, AnalysisService.method.evaluate.input);
      expect(read, error.rawMessage).toMatchObject({ code, message: expect.stringMatching(reading) });
    }
  },

  async decodeInPieces() {
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

  async refuseManyKeys() {
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
} satisfies Readonly<Record<string, ShowFault>>;
