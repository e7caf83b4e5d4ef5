import { once } from "node:events";
import { connect } from "node:http2";
import { Code, ConnectError, type ConnectRouter, createConnectRouter } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { compressionGzip } from "@connectrpc/connect-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { AnalysisRequestSchema } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createBodyBudget } from "../../../src/http/body-budget.ts";
import type { NodeRequest } from "../../../src/http/message.ts";
import { createConnectAdapter } from "../../../src/protocols/connect/adapter.ts";
import { connectErrorFrom, errorFromConnect } from "../../../src/protocols/connect/errors.ts";
import { grpcMessage } from "../../../src/protocols/connect/grpc-message.ts";
import { dropLongTimeout, fixGrpcMessageEncoding } from "../../../src/protocols/connect/workarounds.ts";
import { startListener } from "../../http/start-listener.ts";
import { envelope } from "../../support/envelope.ts";
import { service } from "./faults/bare-library.ts";

const start = ({ handlers }: ConnectRouter) =>
  startListener([createConnectAdapter({ handlers, bodies: createBodyBudget() })]);

describe("a deadline", () => {
  const withoutLong = (headers: Record<string, string>) => {
    dropLongTimeout({ headers } as unknown as NodeRequest);
    return headers;
  };

  test.each([
    ["connect-timeout-ms", "9999999999"],
    ["connect-timeout-ms", "2147483648"],
    ["grpc-timeout", "99999999H"],
    ["grpc-timeout", "99999999M"],
    ["grpc-timeout", "99999999S"],
  ])("a deadline that is too long for Node's timers is ignored; header %s: %s", (name, value) => {
    expect(withoutLong({ [name]: value })).toEqual({});
  });

  test.each([
    ["connect-timeout-ms", "2147483647"],
    ["connect-timeout-ms", "0"],
    ["connect-timeout-ms", "99999999999"],
    ["connect-timeout-ms", "soon"],
    ["grpc-timeout", "99999999m"],
    ["grpc-timeout", "99999999n"],
    ["grpc-timeout", "596H"],
    ["grpc-timeout", "1"],
  ])(
    "a deadline header that Node's timers can handle, or that is invalid, is not changed; header %s: %s",
    (name, value) => {
      expect(withoutLong({ [name]: value })).toEqual({ [name]: value });
    },
  );
});

test("the grpc-message trailer escapes only characters that gRPC does not allow there", () => {
  const trailer = new Headers();
  fixGrpcMessageEncoding(trailer);
  const messageFor = (value: string) => {
    trailer.set("grpc-message", value);
    return trailer.get("grpc-message");
  };
  const text = '`fen`: 100 % "wrong", ~é♞\n';
  expect(messageFor(encodeURIComponent(text))).toBe(grpcMessage(text));
  expect(messageFor("100 % %2 %C3 %zz%3a")).toBe("100 % %2 %C3 %zz%3a");
  trailer.set("grpc-status", "%3A");
  expect(trailer.get("grpc-status")).toBe("%3A");
});

test("an HTTP/2 stream with a full flow control window ends when its reader disconnects", async () => {
  const ended = Promise.withResolvers<string>();
  const router = createConnectRouter().rpc(AnalysisService.method.streamEvaluate, async function* () {
    try {
      for (;;) {
        yield { event: { case: "evaluation" as const, value: { fen: "x".repeat(200_000) } } };
      }
    } finally {
      ended.resolve("ended");
    }
  });
  const { base, errors } = await start(router);
  const client = connect(base);
  onTestFinished(() => client.destroy());
  const headers = { ":method": "POST", ":path": `${service}/StreamEvaluate` };
  const stream = client.request({ ...headers, "content-type": "application/connect+json" });
  stream.end(envelope("{}"));
  await once(stream, "response");
  client.destroy();
  expect(await ended.promise).toBe("ended");
  expect(errors).toEqual([]);
});

test("a request that fails outside its handler gets an error, which is logged", async () => {
  const broken = { ...compressionGzip, compress: () => Promise.reject(new Error("broken")) };
  const answer = () => ({ latest: "x".repeat(3000) });
  const options = { acceptCompression: [broken] };
  const { base, errors } = await start(
    createConnectRouter(options).rpc(AnalysisService.method.listEngines, answer),
  );
  const headers = { "content-type": "application/json" };
  const failed = await fetch(`${base}${service}/ListEngines`, { method: "POST", body: "{}", headers });
  expect(failed.status).toBe(500);
  expect(await failed.json()).toMatchObject({ code: "internal" });
  expect(errors).toMatchObject([{ err: { message: "broken" }, request: `${service}/ListEngines` }]);
});

test("an error message with an unpaired surrogate is sent to the client", () => {
  const refused = new ConnectError("cannot read \ud800", Code.InvalidArgument);
  const sent = connectErrorFrom(errorFromConnect(refused, AnalysisRequestSchema), "id-1");
  expect(sent.rawMessage).toBe("cannot read \ufffd");
  expect(setTrailerStatus(new Headers(), sent).get("grpc-status")).toBe(String(Code.InvalidArgument));
});
