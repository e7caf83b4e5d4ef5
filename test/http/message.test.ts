import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { endInParts, type NodeResponse, writePart } from "../../src/http/message.ts";
import { startListener } from "./start-listener.ts";

/** The buffers of the kernel take it at once, so no piece waits for the client. */
const long = Buffer.alloc(1024 * 1024, "x");

const ways: Readonly<Record<string, (res: NodeResponse) => void>> = {
  endInParts: (res) => endInParts(res, long),
  writePart: (res) => void writePart(res, long).then(() => res.end()),
};

test.each(Object.entries(ways))(
  "other work gets a turn after each piece of a long answer: %s",
  async (_, send) => {
    const turns = Promise.withResolvers<number>();
    const { port } = await startListener([
      (_, res) => {
        let count = 0;
        let isSent = false;
        const turn = () => {
          count++;
          isSent ? turns.resolve(count) : setImmediate(turn);
        };
        setImmediate(turn);
        res.once("finish", () => {
          isSent = true;
        });
        res.setHeader("Content-Length", long.length);
        send(res);
        return true;
      },
    ]);
    const socket = connect({ port, host: "127.0.0.1" });
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await turns.promise).toBeGreaterThanOrEqual(64);
  },
);
