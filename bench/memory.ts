/**
 * Memory of the server after many different requests: real searches of depth 1, each of a position that was never
 * asked for before, over kept connections, in `open` mode or, told so, in `public` mode from one of many addresses.
 * Everything else as by default: the cache, the log at `info`. Engines do not count. Prints what it takes by the number
 * of requests.
 *
 *     node bench/memory.ts [requests, default 200000] [open or public, default open] [minutes at most, default 60]
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { Chess } from "chessops/chess";
import { makeFen } from "chessops/fen";
import { nativeStockfish } from "../test/support/native-stockfish.ts";
import { startServer } from "../test/support/start-server.ts";
import { makeDataFolder } from "./data-folder.ts";
import { vitalSignsOf } from "./vital-signs.ts";

const requests = Number(process.argv[2] ?? 200_000);
const access = process.argv[3] ?? "open";
const endsAt = performance.now() + Number(process.argv[4] ?? 60) * 60_000;
const connections = 4;
/** As many as the keyless plan lets an address ask in a minute, with room. */
const requestsPerAddress = 50;
const goalMib = 200;

const engine = nativeStockfish();
if (engine === undefined) {
  throw new Error("no native Stockfish is installed: apt install stockfish");
}
const server = await startServer({
  PATH: process.env.PATH,
  KIBITZ_DATA_DIR: makeDataFolder(),
  KIBITZ_ACCESS: access,
  KIBITZ_TRUST_PROXY: "127.0.0.1",
  KIBITZ_NATIVE_ENGINES: engine,
  // A WebAssembly engine would be started to be the default.
  KIBITZ_DEFAULT_ENGINE: "stockfish-15.1",
});

let asked = 0;
let answered = 0;
let game = Chess.default();

/** The next position of a random game, of endlessly many; its move number makes it one that nobody has asked for. */
function newFen(): string {
  const [from, targets] = pick([...game.allDests()].filter(([, squares]) => squares.nonEmpty()));
  const to = pick([...targets]);
  const promotes = game.board.pawn.has(from) && (to < 8 || to >= 56);
  game.play({ from, to, ...(promotes && { promotion: "queen" }) });
  // No engine is asked of a game that is over.
  if (game.isEnd() || game.halfmoves > 90) {
    game = Chess.default();
  }
  return makeFen(game.toSetup()).replace(/\d+$/, String(1 + (asked % 9999)));
}

function pick<T>(values: readonly T[]): T {
  return values[Math.floor(Math.random() * values.length)] as T;
}

function nextCall(): string {
  const body = JSON.stringify({ fen: newFen(), depth: 1 });
  const address = Math.floor(asked / requestsPerAddress);
  const from = `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`;
  asked += 1;
  return `POST /v1/eval HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: ${from}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** Asks one after the other over one connection, until all have been asked. */
function askAll(): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(server.port, "127.0.0.1");
  let received = "";
  const ask = () => {
    if (answered < requests && performance.now() < endsAt) {
      socket.write(nextCall());
    } else {
      resolve();
      socket.destroy();
    }
  };
  socket.setNoDelay();
  socket.setEncoding("latin1");
  socket.on("error", reject);
  socket.on("close", () => reject(new Error("the server closed a connection")));
  socket.on("data", (chunk: string) => {
    received += chunk;
    const start = received.indexOf("\r\n\r\n") + 4;
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1]);
    if (start < 4 || received.length < start + length) {
      return;
    }
    if (received.startsWith("HTTP/1.1 503")) {
      // The machine is busy with something else.
      const waitS = Number(/retry-after: (\d+)/i.exec(received)?.[1] ?? 1);
      received = "";
      setTimeout(ask, waitS * 1000);
      return;
    }
    if (!received.startsWith("HTTP/1.1 200")) {
      reject(new Error(`not the answer of a search: ${received}`));
      socket.destroy();
      return;
    }
    // Openings come again now and then.
    answered += received.includes('"cached":false') ? 1 : 0;
    received = "";
    ask();
  });
  ask();
  return promise;
}

function line(): string {
  const { rssMib, enginesMib } = vitalSignsOf(server.pid);
  return [answered, rssMib.toFixed(0), peakMib().toFixed(0), enginesMib.toFixed(0)]
    .map((cell, index) =>
      String(cell).padStart(["requests", "RSS MiB", "peak MiB", "engines MiB"][index]?.length ?? 0),
    )
    .join("  ");
}

/** The most that the server has ever taken. */
function peakMib(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, "latin1");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

console.log("requests  RSS MiB  peak MiB  engines MiB");
console.log(line());
const startedAt = performance.now();
const every = Math.ceil(requests / 20);
let next = every;
const watching = setInterval(() => {
  if (answered >= next) {
    next += every;
    console.log(line());
  }
}, 100);
await Promise.all(Array.from({ length: connections }, askAll));
clearInterval(watching);
const seconds = (performance.now() - startedAt) / 1000;
console.log(line());
const peak = peakMib();
await server.stop();
console.log(
  `${answered} different requests in ${seconds.toFixed(0)} s, ${(answered / seconds).toFixed(0)} a second: the server took ${peak.toFixed(0)} MiB at most; goal: under ${goalMib} after a million`,
);
process.exit(peak < goalMib ? 0 : 1);
