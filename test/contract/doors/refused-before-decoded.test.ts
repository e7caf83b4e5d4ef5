import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { envelope } from "../../abuse/calls.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";

/** What Connect's doors refuse before there is a call costs its sender as much as what they refuse afterwards. */
const budget = 4;
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_PLANS: usePlansFile(
      { id: "keyless", limits: { rates: [rateOf("refusals", budget, 60, "refusal")] } },
      { id: "free", limits: {} },
    ),
  },
  { engines: createEnginesInProcess() },
);

let callers = 0;
const service = "/chess.analysis.v1.AnalysisService";
const inPieces = (text: string) =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(envelope(Buffer.from(text)));
      controller.close();
    },
  });

function batch(text: string): RequestInit {
  const headers = { "Content-Type": "application/connect+json" };
  return { method: "POST", headers, body: inPieces(text), duplex: "half" } as RequestInit;
}

async function codeOf(path: string, init: RequestInit, caller: string): Promise<string> {
  const headers = { ...init.headers, "X-Forwarded-For": caller };
  const text = await (await fetch(app.url + path, { ...init, headers })).text();
  return /"reason":"([A-Z_]+)"/.exec(text)?.[1] ?? text;
}

const item = JSON.stringify({ fen: startFen, depth: 1 });
const brokenMessage = `${service}/Evaluate?connect=v1&encoding=json&base64=1&message=!`;

test.each([
  [
    "an item that is too long",
    `${service}/EvaluateBatch`,
    batch(`{"requests":[{"fen":"${"a".repeat(40_000)}"}]}`),
  ],
  [
    "a batch of which the last item is no JSON, sent in pieces",
    `${service}/EvaluateBatch`,
    batch(`{"requests":[${`${item},`.repeat(400)}{]}`),
  ],
])("%s counts for as much as it takes to find", async (_, path, init) => {
  const caller = `198.51.100.${++callers}`;
  expect(await codeOf(path, init, caller)).not.toBe("RATE_LIMITED");
  expect(await codeOf(`${service}/Evaluate?connect=v1&encoding=json&message={}`, {}, caller)).toBe(
    "RATE_LIMITED",
  );
});

const padded = JSON.stringify({ fen: startFen, options: { a: "x".repeat(40_000) } });

test.each([
  ["plain JSON", "/v1/eval"],
  ["Connect", `${service}/Evaluate`],
])("through %s, a long request that is wrong counts for more than one", async (_, path) => {
  const caller = `198.51.100.${++callers}`;
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: padded };
  expect(await codeOf(path, init, caller)).toMatch(/option.not.allowed/i);
  expect(await codeOf(path, init, caller)).toMatch(/rate.limited/i);
});

const options = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`o${index}`, 1]));
const manyKeys = JSON.stringify({ fen: startFen, options });
const unary = (type: string, body: string | Uint8Array, more = {}) => ({
  method: "POST",
  headers: { "Content-Type": type, ...more },
  body: Buffer.from(body),
});

// To decode them takes Connect longer than anybody may hold the thread.
test.each([
  ["plain JSON", "/v1/eval", unary("application/json", manyKeys)],
  ["a stream of plain JSON", "/v1/eval/stream", unary("application/json", manyKeys)],
  ["a batch of plain JSON", "/v1/eval/batch", unary("application/json", `{"requests":[${manyKeys}]}`)],
  ["a review of plain JSON", "/v1/review", unary("application/json", manyKeys)],
  [
    "a review of Connect",
    "/chess.analysis.v1.GameService/ReviewGame",
    unary("application/connect+json", envelope(Buffer.from(manyKeys))),
  ],
  ["Connect", `${service}/Evaluate`, unary("application/json", manyKeys)],
  [
    "compressed Connect",
    `${service}/Evaluate`,
    unary("application/json", gzipSync(manyKeys), { "Content-Encoding": "gzip" }),
  ],
  [
    "a stream of Connect",
    `${service}/StreamEvaluate`,
    unary("application/connect+json", envelope(Buffer.from(manyKeys))),
  ],
  ["a batch of Connect", `${service}/EvaluateBatch`, batch(`{"requests":[${manyKeys}]}`)],
  ["gRPC-Web", `${service}/Evaluate`, unary("application/grpc-web+json", envelope(Buffer.from(manyKeys)))],
])("more than 1000 keys through %s are refused undecoded", async (_, path, init) => {
  const answer = await fetch(app.url + path, {
    ...init,
    headers: { ...init.headers, "X-Forwarded-For": `198.51.100.${++callers}` },
  });
  const told = (await answer.text()) + decodeURIComponent(answer.headers.get("grpc-message") ?? "");
  expect(told).toMatch(/more than 1000 keys/);
});

test("a message that is no base64 counts for one", async () => {
  const caller = `198.51.100.${++callers}`;
  for (let refused = 0; refused < budget; refused++) {
    expect(await codeOf(brokenMessage, {}, caller)).toBe("MALFORMED_HTTP");
  }
  expect(await codeOf(brokenMessage, {}, caller)).toBe("RATE_LIMITED");
});
