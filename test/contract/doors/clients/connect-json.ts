import { createConnectTransport } from "@connectrpc/connect-node";
import type { DoorKind } from "../door.ts";
import { doorFromTransport } from "../door-from-transport.ts";

/** Connect with JSON over HTTP/1.1. */
export const connectJson: DoorKind = {
  name: "Connect JSON",
  open: (baseUrl) =>
    doorFromTransport(createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false })),
};
