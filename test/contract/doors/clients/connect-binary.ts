import { createConnectTransport } from "@connectrpc/connect-node";
import type { DoorKind } from "../door.ts";
import { doorFromTransport } from "../door-from-transport.ts";

/** Connect with binary messages over HTTP/1.1. */
export const connectBinary: DoorKind = {
  name: "Connect binary",
  open: (baseUrl) =>
    doorFromTransport(createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true })),
};
