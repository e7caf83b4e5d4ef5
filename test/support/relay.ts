import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A TCP relay between a client and a service that can simulate network failures. Disposing the relay closes all connections.
 */
export interface Relay extends AsyncDisposable {
  readonly port: number;
  readonly connections: number;
  /** The port of 127.0.0.1 to which new connections are forwarded. */
  target: number;
  /** True if new connections are reset. */
  isRefusing: boolean;
  /** True if the relay forwards no bytes, but keeps connections open and accepts new ones. */
  isFrozen: boolean;
  /** The delay of bytes that the service sends, in milliseconds. */
  answerDelayMs: number;
  /** Resets all connections. */
  reset(): void;
}

/**
 * Starts a relay in front of a service.
 * @param target the service's port of 127.0.0.1
 */
export async function startRelay(target: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (relay.isRefusing) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(relay.target, "127.0.0.1");
    pass(near, far, () => 0);
    pass(far, near, () => relay.answerDelayMs);
  });
  const pass = (from: Socket, to: Socket, delayMs: () => number) => {
    sockets.add(from);
    from.on("data", async (bytes) => {
      if (delayMs() > 0) {
        from.pause();
        await sleep(delayMs(), undefined, { ref: false });
        from.resume();
      }
      if (!relay.isFrozen) {
        to.write(bytes);
      }
    });
    from.on("end", () => relay.isFrozen || to.end());
    from.on("close", () => {
      sockets.delete(from);
      return relay.isFrozen || to.destroy();
    });
    // Errors need no handling, because `close` follows.
    from.on("error", () => {});
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const relay: Relay = {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return Math.ceil(sockets.size / 2);
    },
    target,
    isRefusing: false,
    isFrozen: false,
    answerDelayMs: 0,
    reset() {
      for (const socket of sockets) {
        socket.resetAndDestroy();
      }
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) {
        socket.destroy();
      }
      await server[Symbol.asyncDispose]();
    },
  };
  return relay;
}
