import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { DoorKind } from "../door.ts";
import { doorFromTransport } from "../door-from-transport.ts";

/** gRPC over HTTP/2 without TLS, with Connect's client. */
export const grpc: DoorKind = {
  name: "gRPC",
  open(baseUrl) {
    const sessionManager = new Http2SessionManager(baseUrl);
    return doorFromTransport(createGrpcTransport({ baseUrl, sessionManager }), () => sessionManager.abort());
  },
};
