import { createServer } from "node:net";
import { parseArgs } from "node:util";
import { Rejection, type Reply } from "./redis-data.ts";
import { createRedisExecutor } from "./redis-executor.ts";

/** The simulated Redis as a server, so that the tests of stores in Redis can run on it. */
const { values } = parseArgs({
  options: {
    bind: { type: "string" },
    port: { type: "string" },
    dir: { type: "string" },
    save: { type: "string" },
  },
});

const executor = createRedisExecutor(() => performance.timeOrigin + performance.now());

const server = createServer((socket) => {
  let unread: Buffer = Buffer.alloc(0);
  socket.on("error", () => socket.destroy());
  socket.on("data", (bytes: Buffer) => {
    unread = Buffer.concat([unread, bytes]);
    for (let read = readCommand(unread); read !== undefined; read = readCommand(unread)) {
      unread = unread.subarray(read.end);
      socket.write(answer(read.command));
    }
  });
});
server.listen(Number(values.port), values.bind, () => console.log("Ready to accept connections"));

/** Returns the first command, an array of byte strings, and the offset of its end. Undefined if bytes are missing. */
function readCommand(
  bytes: Buffer,
): { readonly command: readonly string[]; readonly end: number } | undefined {
  let at = 0;
  /** Reads the number of a line such as `*3` or `$12`. */
  const number = () => {
    const end = bytes.indexOf("\r\n", at);
    const read = end === -1 ? Number.NaN : Number(bytes.toString("latin1", at + 1, end));
    at = end + 2;
    return read;
  };
  const count = number();
  const command: string[] = [];
  while (command.length < count) {
    const length = number();
    if (Number.isNaN(length) || at + length + 2 > bytes.length) {
      return undefined;
    }
    command.push(bytes.toString("utf8", at, at + length));
    at += length + 2;
  }
  return Number.isNaN(count) ? undefined : { command, end: at };
}

/** Returns the answer in RESP 3. */
function answer(command: readonly string[]): string {
  const [name = "", sub] = command;
  if (name === "HELLO") {
    return "%1\r\n$5\r\nproto\r\n:3\r\n";
  }
  if (name === "CLIENT" || name === "SELECT") {
    return sub === "LIST" ? written("") : "+OK\r\n";
  }
  try {
    const reply = executor.execute(command);
    if (name === "HGETALL" && Array.isArray(reply)) {
      return `%${reply.length / 2}\r\n${reply.map(written).join("")}`;
    }
    return name === "ZSCORE" && reply !== null ? `,${reply}\r\n` : written(reply);
  } catch (error) {
    if (error instanceof Rejection) {
      return `-${error.message}\r\n`;
    }
    throw error;
  }
}

function written(reply: Reply): string {
  switch (typeof reply) {
    case "number":
      return `:${reply}\r\n`;
    case "string":
      return `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`;
    default:
      return reply === null ? "_\r\n" : `*${reply.length}\r\n${reply.map(written).join("")}`;
  }
}
