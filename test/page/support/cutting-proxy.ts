import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";

/** The way to a service, which can break. */
export interface CuttingProxy {
  /** With a `/` at its end. */
  readonly base: string;
  /** Breaks every connection that is there. */
  cut(): void;
  /** Whether new connections are taken; they are from the beginning. */
  letIn(isOpen: boolean): void;
  /** From now on what the service says comes so many milliseconds later. */
  delay(ms: number): void;
}

/** Passes connections on to a service; closed when the test ends. */
export async function startCuttingProxy(service: string): Promise<CuttingProxy> {
  const port = Number(new URL(service).port);
  const sockets = new Set<Socket>();
  let isOpen = true;
  let delayMs = 0;
  const server = createServer((near) => {
    if (!isOpen) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(port, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      // What breaks on one side breaks on the other.
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    near.pipe(far);
    far.on("data", async (bytes) => {
      far.pause();
      await sleep(delayMs);
      near.write(bytes);
      far.resume();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const socket of sockets) {
      socket.resetAndDestroy();
    }
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    cut,
    letIn(open) {
      isOpen = open;
    },
    delay(ms) {
      delayMs = ms;
    },
  };
}
