import type { Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  type Http2SessionManager,
} from "@connectrpc/connect-node";
import type { Protocol } from "../../../src/request/context.ts";

/** A client of the health service and the reflection service. Many gRPC tools call these services. */
export interface ToolClient {
  readonly name: string;
  readonly protocol: Protocol;
  readonly duplex: boolean;
  /** The test must close `sessions`, which opens the HTTP/2 connections. */
  open(baseUrl: string, sessions: Http2SessionManager): Transport;
}

export const toolClients: readonly ToolClient[] = [
  {
    name: "gRPC",
    protocol: "grpc",
    duplex: true,
    open: (baseUrl, sessionManager) => createGrpcTransport({ baseUrl, sessionManager }),
  },
  {
    name: "gRPC-Web over HTTP/2",
    protocol: "grpc-web",
    duplex: true,
    open: (baseUrl, sessionManager) => createGrpcWebTransport({ baseUrl, httpVersion: "2", sessionManager }),
  },
  {
    name: "gRPC-Web over HTTP/1.1",
    protocol: "grpc-web",
    duplex: false,
    open: (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
  },
  {
    name: "Connect over HTTP/2",
    protocol: "connect",
    duplex: true,
    open: (baseUrl, sessionManager) => createConnectTransport({ baseUrl, httpVersion: "2", sessionManager }),
  },
  {
    name: "Connect JSON over HTTP/2",
    protocol: "connect",
    duplex: true,
    open: (baseUrl, sessionManager) =>
      createConnectTransport({ baseUrl, httpVersion: "2", sessionManager, useBinaryFormat: false }),
  },
  {
    name: "Connect over HTTP/1.1",
    protocol: "connect",
    duplex: false,
    open: (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  },
];
