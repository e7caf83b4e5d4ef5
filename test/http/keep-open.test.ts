import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { keepOpen, type RequestHandler } from "../../src/http/message.ts";
import { startListener } from "./start-listener.ts";

const silenceTimeoutMs = 400;

/** Responds after three times the silence timeout. While it works on `/kept`, the handler calls `keepOpen`. */
const late: RequestHandler = (req, res) => {
  const working = setInterval(() => req.url === "/kept" && keepOpen(res), 50);
  void sleep(3 * silenceTimeoutMs).then(() => {
    clearInterval(working);
    res.end("late");
  });
  return true;
};

async function overHttp1(base: string, path: string): Promise<boolean> {
  const sent = request(base + path).end();
  const [answer] = await Promise.race([once(sent, "response"), once(sent, "close")]).catch(() => []);
  sent.on("error", () => {});
  answer?.resume();
  return answer !== undefined;
}

async function overHttp2(base: string, path: string): Promise<boolean> {
  const client = connect(base);
  onTestFinished(() => client.destroy());
  client.on("error", () => {});
  const sent = client.request({ ":path": path });
  sent.on("error", () => {});
  const [head] = await Promise.race([once(sent, "response"), once(sent, "close")]).catch(() => []);
  return head?.[":status"] === 200;
}

test.each([
  ["HTTP/1.1", overHttp1],
  ["HTTP/2", overHttp2],
])(
  "a silent connection over %s stays open during a long call only if the handler calls keepOpen",
  async (_, ask) => {
    const { base } = await startListener([late], { silenceTimeoutMs });
    expect(await Promise.all([ask(base, "/kept"), ask(base, "/silent")])).toEqual([true, false]);
  },
);
