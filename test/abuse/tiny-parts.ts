import { connect } from "node:net";
import { expect, test } from "vitest";
import { flag, frame, frameType, headerBlock, openFrames, requestFields } from "./frames.ts";
import { useService } from "./started-service.ts";
import { expectOthersServed } from "./under-attack.ts";

const attacker = "127.0.9.1";

/** Sends bodies whose chunks have one byte. Resolves with a function that ends the attack and returns the answers. */
function sendChunks(port: number, calls: number, bytes: number, path: string) {
  const answers: string[] = [];
  const sockets = Array.from({ length: calls }, (_, index) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: attacker });
    socket
      .on("error", () => {})
      .on("data", (chunk) => {
        answers[index] = (answers[index] ?? "") + chunk.toString("latin1");
      });
    socket.on("connect", () => {
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      socket.write("1\r\n \r\n".repeat(bytes));
    });
    return socket;
  });
  return {
    answers,
    end() {
      for (const socket of sockets) {
        socket.destroy();
      }
    },
  };
}

const rows: readonly (readonly [calls: number, bytes: number, path: string, status: number])[] = [
  [6, 520_000, "/mcp", 413],
  [100, 65_000, "/v1/eval", 413],
  [2, 1_048_576, "/v1/eval/batch", 413],
  [200, 3900, "/v1/keys", 0],
  [100, 65_000, "/healthz", 405],
  [100, 65_000, "/nothing", 404],
];

/** Tests DATA frames of one byte, and chunks of one byte to the paths for which `isTested` returns true. */
export function testTinyParts(isTested: (path: string) => boolean): void {
  const service = useService({ KIBITZ_ACCESS: "public" });

  test.each(rows.filter(([, , path]) => isTested(path)))(
    "41: %i bodies of %i chunks of one byte to %s do not harm other callers",
    async (calls, bytes, path, status) => {
      let sent: ReturnType<typeof sendChunks> | undefined;
      const attack = async () => {
        sent = sendChunks(service.port, calls, bytes, path);
        return sent.end;
      };
      await expectOthersServed(service, attack, { heldMs: 5000 });
      const answers = (sent?.answers ?? []).filter((answer) => answer !== undefined);
      // The rest of the connections is reset, because a body that is not read to its end closes the connection.
      const statuses = new Set(answers.map((answer) => Number(answer.slice(9, 12))));
      // On a slow machine, the service may be too busy to read some of the calls.
      expect(statuses).toEqual(new Set(status === 0 ? [] : [status, ...(statuses.has(503) ? [503] : [])]));
    },
    60_000,
  );

  test("41: 40 bodies of 65,000 DATA frames of one byte do not harm other callers", async () => {
    const clients = await Promise.all(Array.from({ length: 40 }, () => openFrames(service.port)));
    const head = headerBlock(requestFields("POST", "/v1/eval", { "content-type": "application/json" }));
    const data = Buffer.concat(
      Array.from({ length: 65_000 }, () => frame(frameType.data, 0, 1, Buffer.from(" "))),
    );
    const attack = async () => {
      for (const { send } of clients) {
        void send(frame(frameType.headers, flag.endHeaders, 1, head), data);
      }
      return () => {
        for (const { socket } of clients) {
          socket.destroy();
        }
      };
    };
    const expectAnswered = () => {
      for (const { frames } of clients) {
        const answer = Buffer.concat(frames.map(({ payload }) => payload)).toString("latin1");
        expect(answer).toContain("more than 4000 chunks");
      }
    };
    await expectOthersServed(service, attack, { heldMs: 5000, expectAnswered });
  }, 120_000);
}
