import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { envelope } from "../../support/envelope.ts";
import { newAddress } from "../../support/new-caller.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";

/** The error quota of an address. An error reduces the quota even if the server did not decode the message. */
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
    "a batch in several pieces whose last item is not JSON",
    `${service}/EvaluateBatch`,
    batch(`{"requests":[${`${item},`.repeat(400)}{]}`),
  ],
])(
  "%s counts as several errors in the error quota, because finding the error is expensive",
  async (_, path, init) => {
    const caller = newAddress();
    expect(await codeOf(path, init, caller)).not.toBe("RATE_LIMITED");
    expect(await codeOf(`${service}/Evaluate?connect=v1&encoding=json&message={}`, {}, caller)).toBe(
      "RATE_LIMITED",
    );
  },
);

const padded = JSON.stringify({ fen: startFen, options: { a: "x".repeat(40_000) } });

test.each([
  ["plain JSON", "/v1/eval"],
  ["Connect", `${service}/Evaluate`],
])("an invalid long request through %s counts as several errors in the error quota", async (_, path) => {
  const caller = newAddress();
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: padded };
  expect(await codeOf(path, init, caller)).toMatch(/option.not.allowed/i);
  expect(await codeOf(path, init, caller)).toMatch(/rate.limited/i);
});

// The last field is unknown. The error would name this field if the message was decoded.
const options = Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [`o${index}`, "1"]));
const manyKeys = JSON.stringify({ fen: startFen, options, unheardOf: 1 });
const unary = (type: string, body: string | Uint8Array, more = {}) => ({
  method: "POST",
  headers: { "Content-Type": type, ...more },
  body: Buffer.from(body),
});
const packed = (text: string) => envelope(gzipSync(text), 1);
const inQuery = (more: string) => `${service}/Evaluate?connect=v1&encoding=json${more}`;
/** Headers that Connect ignores. */
const ignoredHeaders = { "Grpc-Encoding": "x", "Content-Encoding": "x" };
const uncompressedErrors = { "Connect-Accept-Encoding": "identity", "Grpc-Accept-Encoding": "identity" };

// Connect would block the event loop for too long if it decoded these messages.
const protocols: readonly (readonly [string, string, RequestInit])[] = [
  ["plain JSON", "/v1/eval", unary("application/json", manyKeys)],
  ["a batch in plain JSON", "/v1/eval/batch", unary("application/json", `{"requests":[${manyKeys}]}`)],
  ["Connect", `${service}/Evaluate`, unary("application/json", manyKeys)],
  [
    "a compressed Connect request",
    `${service}/Evaluate`,
    unary("application/json", gzipSync(manyKeys), { "Content-Encoding": "gzip" }),
  ],
  [
    "a Connect GET request",
    inQuery(`&base64=1&compression=gzip&message=${gzipSync(manyKeys).toString("base64url")}`),
    {},
  ],
  [
    "a stream of Connect",
    `${service}/StreamEvaluate`,
    unary("application/connect+json", envelope(Buffer.from(manyKeys))),
  ],
  [
    "a compressed Connect batch",
    `${service}/EvaluateBatch`,
    unary("application/connect+json", packed(`{"requests":[${manyKeys}]}`), {
      ...ignoredHeaders,
      ...uncompressedErrors,
      "Connect-Content-Encoding": "gzip",
    }),
  ],
  ["gRPC-Web", `${service}/Evaluate`, unary("application/grpc-web+json", envelope(Buffer.from(manyKeys)))],
  [
    "compressed gRPC-Web",
    `${service}/Evaluate`,
    unary("application/grpc-web+json", packed(manyKeys), { ...uncompressedErrors, "Grpc-Encoding": "gzip" }),
  ],
];

test.each(protocols)(
  "a request with more than 1000 keys through %s is refused before decoding and uses the error quota",
  async (_, path, init) => {
    const caller = newAddress();
    const ask = async () => {
      const headers = { ...init.headers, "X-Forwarded-For": caller };
      const answer = await fetch(app.url + path, { ...init, headers });
      return (await answer.text()) + decodeURIComponent(answer.headers.get("grpc-message") ?? "");
    };
    expect(await ask()).toMatch(/more than 1000 keys/);
    // The error quota ends after one or two more of these requests.
    await ask();
    await ask();
    expect(await ask()).toMatch(/limit of 4 refusals/);
  },
);

const right = JSON.stringify({ fen: startFen, depth: 1 });

test.each([
  ["gRPC-Web", `${service}/Evaluate`, "application/grpc-web+json"],
  ["a stream of Connect", `${service}/StreamEvaluate`, "application/connect+json"],
])("a second message through %s is refused before decoding", async (_, path, type) => {
  const both = Buffer.concat([right, manyKeys].map((text) => envelope(Buffer.from(text))));
  const answer = await fetch(app.url + path, unary(type, both));
  const reported = (await answer.text()) + decodeURIComponent(answer.headers.get("grpc-message") ?? "");
  expect(reported).toMatch(/extra input message/);
});

test("a message with invalid base64 counts as one error in the error quota", async () => {
  const caller = newAddress();
  for (let refused = 0; refused < budget; refused++) {
    expect(await codeOf(brokenMessage, {}, caller)).toBe("MALFORMED_HTTP");
  }
  expect(await codeOf(brokenMessage, {}, caller)).toBe("RATE_LIMITED");
});
