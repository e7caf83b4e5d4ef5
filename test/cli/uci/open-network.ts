import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A network between a program and the service at this port, which can fail. */
export async function openNetwork(port: number): Promise<{ readonly url: string; fail(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => {});
      from.pipe(to);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const fail = () => {
    server.close();
    for (const socket of sockets) {
      socket.destroy();
    }
  };
  onTestFinished(fail);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, fail };
}
