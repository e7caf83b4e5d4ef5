import { createGrpcWebTransport } from "@connectrpc/connect-node";
import type { DoorKind } from "../door.ts";
import { doorFromTransport } from "../door-from-transport.ts";

/** gRPC-Web over HTTP/1.1. */
export const grpcWeb: DoorKind = {
  name: "gRPC-Web",
  open: (baseUrl) => doorFromTransport(createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })),
};
