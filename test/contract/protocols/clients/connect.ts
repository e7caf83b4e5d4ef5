import type { Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import {
  createGrpcWebTransport as createWebGrpcWebTransport,
  createConnectTransport as createWebTransport,
} from "@connectrpc/connect-web";
import type { ProtocolKind } from "../protocol.ts";
import { protocolFromTransport } from "../protocol-from-transport.ts";

const protocolWith = (
  name: string,
  open: (baseUrl: string, sessionManager: Http2SessionManager) => Transport,
): ProtocolKind => ({
  name,
  open(baseUrl) {
    const sessions = new Http2SessionManager(baseUrl);
    return protocolFromTransport(open(baseUrl, sessions), () => sessions.abort());
  },
});

export const connectBinary = protocolWith("Connect binary", (baseUrl) =>
  createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true }),
);
export const connectJson = protocolWith("Connect JSON", (baseUrl) =>
  createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
);
export const connectJsonHttp2 = protocolWith("Connect JSON over HTTP/2", (baseUrl, sessionManager) =>
  createConnectTransport({ baseUrl, httpVersion: "2", sessionManager, useBinaryFormat: false }),
);
/** Sends the message in the query of a GET request. Connect allows GET for unary calls without side effects. */
export const connectGet = protocolWith("Connect GET", (baseUrl) =>
  createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false, useHttpGet: true }),
);
export const connectWeb = protocolWith("connect-web", (baseUrl) => createWebTransport({ baseUrl }));
export const connectWebGrpc = protocolWith("connect-web gRPC-Web", (baseUrl) =>
  createWebGrpcWebTransport({ baseUrl }),
);
export const grpc = protocolWith("gRPC", (baseUrl, sessionManager) =>
  createGrpcTransport({ baseUrl, sessionManager }),
);
export const grpcWeb = protocolWith("gRPC-Web", (baseUrl) =>
  createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
);
