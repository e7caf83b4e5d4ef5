import { request } from "node:http";
import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { createRefusalReport } from "../../../src/calls/report-call.ts";
import { createBodyBudget } from "../../../src/http/body-budget.ts";
import { createCallLine } from "../../../src/log/call-line.ts";
import { type LogFields, silentLog } from "../../../src/log/log.ts";
import { startListener } from "../../http/start-listener.ts";
import { patienceMs } from "../../support/patience.ts";
import { type MadeUpCalls, madeUpGateway, startFen } from "./serve-gateway.ts";

/** Returns a function that waits forever, and a promise that resolves when the function is called. */
function createWait() {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  async function wait(): Promise<never> {
    resolve();
    return new Promise(() => {});
  }
  return { reached, wait };
}

const batch = JSON.stringify({ requests: [{ fen: startFen }] });

test.each<[string, string, object, (wait: () => Promise<never>) => Partial<MadeUpCalls>]>([
  ["while the request waits for admission", "/v1/eval", {}, (wait) => ({ entered: wait })],
  ["while its batch waits for processor time", "/v1/eval/batch", {}, (wait) => ({ beginWork: () => wait })],
  [
    "while its body waits to be decompressed",
    "/v1/eval",
    { "content-encoding": "gzip" },
    (wait) => ({ bodies: { ...createBodyBudget(), inflate: wait } }),
  ],
])(
  "if a plain JSON client disconnects %s, its call is logged once, with the code canceled",
  async (_, path, headers, options) => {
    const { reached, wait } = createWait();
    const lines: LogFields[] = [];
    const log = { ...silentLog, info: (fields: LogFields) => void lines.push(fields) };
    const gateway = madeUpGateway({ refused: async () => {}, ...options(wait) });
    const reportRefused = createRefusalReport(createCallLine(log, "none"), () => "");
    const { base } = await startListener([gateway], {}, undefined, { reportRefused });
    const leaving = request(base + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
    });
    leaving.on("error", () => {}).end("content-encoding" in headers ? gzipSync(batch) : batch);
    await reached;
    leaving.destroy();
    await vi.waitFor(() => expect(lines).not.toEqual([]), patienceMs);
    expect(lines).toMatchObject([{ method: "POST", request: path, code: "canceled" }]);
  },
);
