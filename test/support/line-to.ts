import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A line between a node and what it asks, which can be cut so that neither end notices. */
export interface Line extends AsyncDisposable {
  readonly port: number;
  /** From now on nothing passes, and new connections are taken and say nothing. */
  cut(): void;
}

/** @param target port of 127.0.0.1 */
export async function lineTo(target: number): Promise<Line> {
  let isCut = false;
  const ends = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from);
      from.on("data", (bytes) => !isCut && to.write(bytes));
      from.on("close", () => {
        ends.delete(from);
        return !isCut && to.destroy();
      });
      // Either end may go as it likes.
      from.on("error", () => {});
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
    },
    async [Symbol.asyncDispose]() {
      for (const end of ends) {
        end.destroy();
      }
      await server[Symbol.asyncDispose]();
    },
  };
}
