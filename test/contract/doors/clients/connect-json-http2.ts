import { createConnectTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { DoorKind } from "../door.ts";
import { doorFromTransport } from "../door-from-transport.ts";

/** Connect with JSON over HTTP/2. */
export const connectJsonHttp2: DoorKind = {
  name: "Connect JSON over HTTP/2",
  open(baseUrl) {
    const sessionManager = new Http2SessionManager(baseUrl);
    return doorFromTransport(
      createConnectTransport({ baseUrl, httpVersion: "2", sessionManager, useBinaryFormat: false }),
      () => sessionManager.abort(),
    );
  },
};
