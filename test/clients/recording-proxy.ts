import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

export interface RecordingProxy {
  readonly url: string;
  hasSentGzip(): boolean;
  hasReceivedGzip(): boolean;
  /** Delays each chunk of later responses by `ms`, until the next call of {@link cut}. */
  pauseAnswers(ms: number): void;
  /** Closes all connections without notice. After that, the proxy accepts new connections. */
  cut(): void;
  close(): Promise<void>;
}

/**
 * Starts a proxy that forwards and records all bytes.
 * @param address the IP address from which the proxy connects to the service: the service applies its rate limits to this
 * address
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

/** The first bytes of gzip data (RFC 1952). Uncompressed requests and responses do not contain these bytes. */
const gzipMagic = Buffer.from([0x1f, 0x8b, 0x08]);
