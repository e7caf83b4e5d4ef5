import { createConnectTransport } from "@connectrpc/connect-node";
import type { DoorKind } from "../door.ts";
import { doorFromTransport } from "../door-from-transport.ts";

/** Connect by GET, with the message in the query, for the calls without side effects that are not streams. */
export const connectGet: DoorKind = {
  name: "Connect GET",
  open: (baseUrl) =>
    doorFromTransport(
      createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false, useHttpGet: true }),
    ),
};
