import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import { rpcOf } from "../../abuse/calls.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { envelope } from "../../support/envelope.ts";
import { patienceMs } from "../../support/patience.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { callGrpc } from "./call-grpc.ts";

/** The error quota of an address. Connect rejects each message of this file before a handler runs. */
const quota = 3;
const metrics = createMetrics("1.2.3");
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_PLANS: usePlansFile(
      {
        id: "keyless",
        limits: { rates: [rateOf("minute", 9, 60), rateOf("refusals", quota, 60, "refusal")] },
      },
      { id: "free", limits: {} },
    ),
  },
  { engines: createEnginesInProcess(), metrics },
);

interface Protocol {
  readonly name: string;
  readonly protocol: string;
  readonly type: string;
  readonly method: string;
  readonly framed: boolean;
}

const protocols: readonly Protocol[] = [
  ["Connect", "connect", "application/proto", "Evaluate", false],
  ["Connect streaming", "connect", "application/connect+proto", "StreamEvaluate", true],
  ["gRPC", "grpc", "application/grpc", "Evaluate", true],
  ["gRPC-Web", "grpc-web", "application/grpc-web", "Evaluate", true],
].map(([name, protocol, type, method, framed]) => ({ name, protocol, type, method, framed }) as Protocol);

const rejections = [
  { what: "a message that cannot be decoded", code: "invalid_type", message: Buffer.from([0x0a, 0xff]) },
  { what: "a message that is too large", code: "body_too_large", message: Buffer.alloc(70_000) },
  { what: "a call of an unknown method", code: "unimplemented", message: Buffer.of(), method: "Devaluate" },
];

async function send(
  { protocol, type, framed }: Protocol,
  method: string,
  message: Buffer<ArrayBuffer>,
  headers: Record<string, string>,
) {
  const body = framed ? envelope(message) : message;
  const sent = { "content-type": type, ...headers };
  if (protocol === "grpc") {
    const got = await callGrpc(app.url, method, body, sent);
    return { rateLimit: got.headers.ratelimit ?? null, text: JSON.stringify(got) };
  }
  const answer = await fetch(app.url + rpcOf(method), {
    method: "POST",
    headers: sent,
    body,
  });
  const text = Buffer.from(await answer.arrayBuffer()).toString("latin1");
  return { rateLimit: answer.headers.get("ratelimit"), text: JSON.stringify([...answer.headers]) + text };
}

async function counted(code: string, protocol: string): Promise<number> {
  const lines = (await metrics.print())
    .split("\n")
    .filter((line) => line.startsWith("kibitz_requests_total{"));
  return lines
    .filter((line) => line.includes(`code="${code}"`) && line.includes(`protocol="${protocol}"`))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

const linesOf = (requestId: string) =>
  app.logged.filter((line) => (line as { requestId?: string }).requestId === requestId);

let callers = 0;

for (const protocol of protocols) {
  test.each(rejections)(
    `over ${protocol.name}, $what is logged and counted once, has the RateLimit headers, and uses the error quota`,
    async ({ code, message, method = protocol.method }) => {
      const caller = { "x-forwarded-for": `203.0.113.${++callers}` };
      const requestId = `rejected-${callers}`;
      const before = await counted(code, protocol.protocol);
      const { rateLimit } = await send(protocol, method, message, {
        ...caller,
        "x-request-id": requestId,
      });
      expect(rateLimit).toBe('"minute";r=9;t=60');
      await vi.waitFor(() => expect(linesOf(requestId)).not.toEqual([]), patienceMs);
      await sleep(20);
      expect(linesOf(requestId)).toMatchObject([{ message: "call", protocol: protocol.protocol, code }]);
      expect(await counted(code, protocol.protocol)).toBe(before + 1);
      for (let sent = 1; sent < quota; sent++) {
        await send(protocol, method, message, caller);
      }
      const { text } = await send(protocol, method, message, caller);
      expect(text).toContain("refusals in this window is reached");
    },
  );
}
