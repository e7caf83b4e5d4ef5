import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** Records the traffic between a client and the service. */
export interface RecordingProxy {
  readonly url: string;
  /** True if the client has sent anything compressed with gzip. */
  hasSentGzip(): boolean;
  /** True if the service has sent anything compressed with gzip. */
  hasReceivedGzip(): boolean;
  /** Waits for so long before it passes on each part of an answer, until {@link cut}: what comes behind a part is then still to come. */
  pauseAnswers(ms: number): void;
  /** Breaks every connection, as a node that dies does. New ones are taken. */
  cut(): void;
  close(): Promise<void>;
}

/**
 * Passes bytes to and from the service, and keeps a copy of them.
 *
 * @param address the address of this machine that the service sees as its caller: limits count by it
 */
export async function startRecordingProxy(url: string, address = "127.0.0.1"): Promise<RecordingProxy> {
  const { hostname, port } = new URL(url);
  const sent: Buffer[] = [];
  const received: Buffer[] = [];
  const sockets = new Set<Socket>();
  let pauseMs = 0;
  const paused = () =>
    new Transform({
      transform(part, _, done) {
        void sleep(pauseMs).then(() => done(null, part));
      },
    });
  const server = createServer((client) => {
    const service = connect({ port: Number(port), host: hostname, localAddress: address });
    for (const [from, to, copy] of [
      [client, service, sent],
      [service, client, received],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes: Buffer) => copy.push(bytes));
      from.on("error", () => to.destroy());
      from.on("close", () => sockets.delete(from));
      if (from === service) {
        from.pipe(paused()).pipe(to);
      } else {
        from.pipe(to);
      }
    }
  });
  const cut = () => {
    pauseMs = 0;
    for (const socket of sockets) {
      socket.destroy();
    }
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hasSentGzip: () => Buffer.concat(sent).includes(gzipMagic),
    hasReceivedGzip: () => Buffer.concat(received).includes(gzipMagic),
    pauseAnswers(ms) {
      pauseMs = ms;
    },
    cut,
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}

/** How a gzip file begins (RFC 1952): neither plain requests nor plain answers hold these bytes. */
const gzipMagic = Buffer.from([0x1f, 0x8b, 0x08]);
