/**
 * Memory of a request that waits: one search holds the only slot, and requests of callers that are patient
 * come over connections of their own. Counted is what the server's process grows by.
 *
 *     node bench/waiting.ts [requests a step, default 1000]
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { quickestSettings } from "../test/support/quickest-settings.ts";
import { startServer } from "../test/support/start-server.ts";
import { makeDataFolder } from "./data-folder.ts";

const step = Number(process.argv[2] ?? 1000);
const steps = 4;

const { port, pid, stop } = await startServer(
  {
    ...quickestSettings,
    KIBITZ_LOG_LEVEL: "silent",
    KIBITZ_DATA_DIR: makeDataFolder(),
    KIBITZ_SLOTS: "1",
    KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
  },
  { stdout: "ignore" },
);

/** Every request is another one, or they would share a search: the number of the move differs. */
function ask(number: number, depth: number): Socket {
  const fen = `r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 ${number}`;
  const body = JSON.stringify({ fen, depth, movetime_ms: 60_000 });
  const socket = connect(port, "127.0.0.1");
  socket.on("error", (error) => {
    throw error;
  });
  socket.on("data", (chunk: Buffer) => {
    throw new Error(`answered, and should wait: ${chunk.toString("latin1").slice(0, 400)}`);
  });
  socket.write(
    `POST /v1/eval HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

function residentBytes(): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

const holder = ask(1, 30);
await new Promise((resolve) => setTimeout(resolve, 500));
const sockets: Socket[] = [];
/** The first step fills what the process has reserved; each row is what one more request costs after that. */
let before = residentBytes();
const startBytes = before;
for (let round = 1; round <= steps; round++) {
  for (let index = 0; index < step; index++) {
    sockets.push(ask(sockets.length + 2, 1));
    if (index % 50 === 49) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const now = residentBytes();
  const kilobytes = (bytes: number, requests: number) => (bytes / 1000 / requests).toFixed(1);
  console.log(
    `${sockets.length} waiting: ${(now / 1e6).toFixed(0)} MB, ${kilobytes(now - before, step)} kB each of the last ${step}, ${kilobytes(now - startBytes, sockets.length)} kB each of all (goal: under 50)`,
  );
  before = now;
}
for (const socket of [holder, ...sockets]) {
  socket.destroy();
}
await stop();
