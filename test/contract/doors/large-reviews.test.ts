import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { GameService } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { leastMsOf } from "../../support/least-ms.ts";
import { useApp } from "../../support/running-app.ts";
import { threadMs } from "../../support/thread-time.ts";
import { post } from "./post.ts";

const app = useApp({}, { engines: createEnginesInProcess() });
const pgnMaxBytes = 262_144;

/**
 * The longest turn of this thread, which is the server's and its client's, in milliseconds of its processor time: a
 * machine that is busy with other tests does not decide.
 */
async function longestTurnMs<T>(act: () => Promise<T>): Promise<{ value: T; longestMs: number }> {
  let longestMs = 0;
  let before = threadMs();
  let looking = true;
  const look = () => {
    longestMs = Math.max(longestMs, threadMs() - before);
    before = threadMs();
    if (looking) {
      setImmediate(look);
    }
  };
  setImmediate(look);
  const value = await act();
  looking = false;
  return { value, longestMs };
}

const upTo = (part: string, bytes = pgnMaxBytes) => part.repeat(Math.floor(bytes / Buffer.byteLength(part)));
const review = (body: object | string) => post(`${app.url}/v1/review`, body as never);

/** What is compiled for the first review is not what is measured. */
async function warmUp(): Promise<void> {
  expect((await review({ pgn: `1. e4 {${upTo("x", 100_000)}}`, depth: 1 })).status).toBe(200);
  expect((await review({ moves: ["e5"] })).status).toBe(400);
}

test.each([
  ["opening brackets", { pgn: upTo("(") }, 400],
  ["variations inside each other", { pgn: `1. e4 ${upTo("(1. d4 ", pgnMaxBytes - 10)}` }, 400],
  ["a comment of 256 KiB", { pgn: `1. e4 {${upTo("é", pgnMaxBytes - 10)}}`, depth: 1 }, 200],
  ["a comment that does not end", { pgn: `1. e4 {${upTo("}{", pgnMaxBytes - 10)}` }, 400],
  ["quotation marks", { pgn: upTo('"', pgnMaxBytes - 20) }, 400],
  ["tags", { pgn: upTo('[a "b"]\n') }, 400],
  ["moves that go to and fro", { pgn: upTo("Nf3 Nf6 Ng1 Ng8 ") }, 400],
  ["variations of one move", { pgn: `1. e4 ${upTo("(1. d4) ", pgnMaxBytes - 10)}` }, 400],
  ["as many variations as there may be", { pgn: `1. e4 ${"(1. d4 {a}) ".repeat(4999)}`, depth: 1 }, 200],
  ["empty moves", `{"moves":[${upTo('"",', 524_000)}""]}`, 413],
])("a review of %s is answered, and holds nobody up for 50 ms", async (_, body, status) => {
  await warmUp();
  const turnMs = await leastMsOf(50, async () => {
    const { value, longestMs } = await longestTurnMs(() => review(body));
    expect(value.status).toBe(status);
    return longestMs;
  });
  expect(turnMs).toBeLessThan(50);
});

test.each(["gRPC", "Connect", "Connect JSON"])(
  "half a megabyte of empty moves is refused over %s, undecoded",
  async (protocol) => {
    const sessionManager = new Http2SessionManager(app.url);
    onTestFinished(() => sessionManager.abort());
    const options = { baseUrl: app.url, sessionManager, httpVersion: "2" } as const;
    const useBinaryFormat = protocol === "Connect";
    const transport =
      protocol === "gRPC"
        ? createGrpcTransport(options)
        : createConnectTransport({ ...options, useBinaryFormat });
    const { reviewGame } = createClient(GameService, transport);
    const message = create(GameService.method.reviewGame.input, {
      moves: Array.from({ length: protocol === "Connect JSON" ? 170_000 : 260_000 }, () => ""),
    });
    const asked = Array.fromAsync(reviewGame(message));
    await expect(asked).rejects.toThrow(
      /What stands beside the long texts of this request is larger than 65536 bytes/,
    );
  },
);
