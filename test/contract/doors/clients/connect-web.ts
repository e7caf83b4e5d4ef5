import { createConnectTransport } from "@connectrpc/connect-web";
import type { DoorKind } from "../door.ts";
import { doorFromTransport } from "../door-from-transport.ts";

/** The client for browsers, over fetch. */
export const connectWeb: DoorKind = {
  name: "connect-web",
  open: (baseUrl) => doorFromTransport(createConnectTransport({ baseUrl })),
};
