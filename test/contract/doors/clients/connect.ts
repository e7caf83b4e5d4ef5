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
import type { DoorKind } from "../door.ts";
import { doorFromTransport } from "../door-from-transport.ts";

/** Connect's own clients: for Node over HTTP/1.1 and HTTP/2, and for browsers over fetch. */
const doorWith = (
  name: string,
  open: (baseUrl: string, sessionManager: Http2SessionManager) => Transport,
): DoorKind => ({
  name,
  open(baseUrl) {
    const sessions = new Http2SessionManager(baseUrl);
    return doorFromTransport(open(baseUrl, sessions), () => sessions.abort());
  },
});

export const connectBinary = doorWith("Connect binary", (baseUrl) =>
  createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true }),
);
export const connectJson = doorWith("Connect JSON", (baseUrl) =>
  createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
);
export const connectJsonHttp2 = doorWith("Connect JSON over HTTP/2", (baseUrl, sessionManager) =>
  createConnectTransport({ baseUrl, httpVersion: "2", sessionManager, useBinaryFormat: false }),
);
/** Has the message in the query, for the calls without side effects that are not streams. */
export const connectGet = doorWith("Connect GET", (baseUrl) =>
  createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false, useHttpGet: true }),
);
export const connectWeb = doorWith("connect-web", (baseUrl) => createWebTransport({ baseUrl }));
export const connectWebGrpc = doorWith("connect-web gRPC-Web", (baseUrl) =>
  createWebGrpcWebTransport({ baseUrl }),
);
export const grpc = doorWith("gRPC", (baseUrl, sessionManager) =>
  createGrpcTransport({ baseUrl, sessionManager }),
);
export const grpcWeb = doorWith("gRPC-Web", (baseUrl) =>
  createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
);
