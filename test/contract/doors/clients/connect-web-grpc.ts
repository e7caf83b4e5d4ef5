import { createGrpcWebTransport } from "@connectrpc/connect-web";
import type { DoorKind } from "../door.ts";
import { doorFromTransport } from "../door-from-transport.ts";

/** gRPC-Web with the client for browsers, over fetch. */
export const connectWebGrpc: DoorKind = {
  name: "connect-web gRPC-Web",
  open: (baseUrl) => doorFromTransport(createGrpcWebTransport({ baseUrl })),
};
