import { type ClientHttp2Session, connect } from "node:http2";
import { text } from "node:stream/consumers";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { post } from "./ask.ts";
import { envelope, jsonCalls, matedFen, rpcOf } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { mib, watchHealth } from "./health-watch.ts";
import { useService } from "./started-service.ts";

const service = useService();

/** 256 MiB of blanks, which are JSON's white space. Made once: it takes a second. */
const blanks = Buffer.alloc(256 * mib, " ");
const bombs = {
  gzip: gzipSync(blanks),
  br: brotliCompressSync(blanks, { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } }),
  deflate: deflateSync(blanks),
};
/** What is left of a bomb where bodies of 64 KiB are read: still 1000 times as much. */
const small = gzipSync(Buffer.alloc(60 * mib, " "));

const refused = { status: [413, 415, 400] };

describe("19: a body that grows without measure is refused, and takes no memory", () => {
  test.each(Object.entries(bombs))("%s", async (encoding, bomb) => {
    const stop = await watchHealth(service);
    for (const path of jsonCalls) {
      for (const body of [bomb, small.subarray(0, 60_000)]) {
        expectProblem(await service.post(path, body, { "Content-Encoding": encoding }), refused);
      }
    }
    const health = await stop();
    expect(health.grownBytes).toBeLessThan(200 * mib);
    expect(health.failed).toBe(0);
  });

  test("50 at a time", async () => {
    const stop = await watchHealth(service);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        post(`${service.url}/v1/eval/batch`, bombs.gzip, { "Content-Encoding": "gzip" }),
      ),
    );
    const health = await stop();
    for (const answer of answers) {
      expectProblem(answer, refused);
    }
    expect(health.grownBytes).toBeLessThan(200 * mib);
    expect(health.failed).toBe(0);
  });

  test.each([
    ["plain JSON", "/v1/eval/batch", (text: string) => gzipSync(text), { "content-encoding": "gzip" }],
    [
      "Connect",
      rpcOf("EvaluateBatch"),
      (text: string) => envelope(gzipSync(text), 1),
      {
        "content-type": "application/connect+json",
        "connect-content-encoding": "gzip",
        "connect-accept-encoding": "identity",
      },
    ],
  ])("many of %s that are just not too large, on a few connections", async (_, path, pack, headers) => {
    const items = Array.from({ length: 200 }, () => `{"fen":"${matedFen}"${" ".repeat(4500)}}`);
    const packed = pack(`{"requests":[${items}]}`);
    expect(packed.length).toBeLessThan(16 * 1024);
    const stop = await watchHealth(service);
    const clients = Array.from({ length: 4 }, () => connect(service.url));
    const askOn = (client: ClientHttp2Session) => {
      const fields = { ":method": "POST", ":path": path, "content-type": "application/json", ...headers };
      return text(client.request(fields).end(packed));
    };
    const answers = await Promise.all(
      clients.flatMap((client) => Array.from({ length: 50 }, () => askOn(client))),
    );
    // What was counted is given back.
    expect(await askOn(clients[0] as ClientHttp2Session)).not.toContain("Too many large requests");
    for (const client of clients) {
      client.destroy();
    }
    const health = await stop();
    // Those for which there was no room are told so.
    const refusedNow = answers.filter((answer) => answer.includes("Too many large requests"));
    expect(refusedNow.length).toBeGreaterThan(0);
    expect(refusedNow.length).toBeLessThan(answers.length);
    expect(health.failed).toBe(0);
  });

  test("in the messages of the RPCs", async () => {
    const stop = await watchHealth(service);
    const gzip = { "Content-Encoding": "gzip" };
    const unary = await service.post(rpcOf("Evaluate"), small, gzip);
    expect(unary.status).toBe(429);
    for (const bomb of [small, bombs.gzip]) {
      const stream = await service.post(rpcOf("StreamEvaluate"), envelope(bomb, 1), {
        "Content-Type": "application/connect+json",
        "Connect-Content-Encoding": "gzip",
        // Without it the error comes in the encoding of the request.
        "Connect-Accept-Encoding": "identity",
      });
      expect(stream.body).toContain("resource_exhausted");
      for (const call of ["Evaluate", "StreamEvaluate"]) {
        const web = await service.post(rpcOf(call), envelope(bomb, 1), {
          "Content-Type": "application/grpc-web+proto",
          "grpc-encoding": "gzip",
        });
        expect(JSON.stringify(web)).toMatch(/grpc-status\\?"?: ?"?8/);
      }
    }
    const query = `?connect=v1&encoding=json&compression=gzip&base64=1&message=${gzipSync(Buffer.alloc(4 * mib, " ")).toString("base64url")}`;
    expect((await service.get(rpcOf("Evaluate") + query)).status).toBe(429);
    const health = await stop();
    expect(health.grownBytes).toBeLessThan(200 * mib);
    expect(health.failed).toBe(0);
  });

  const good = Buffer.from(JSON.stringify({ fen: matedFen }));
  test.each([
    ["not what it says", "gzip", good],
    ["cut off", "gzip", gzipSync(good).subarray(0, -9)],
    ["with a wrong checksum", "gzip", Buffer.concat([gzipSync(good).subarray(0, -8), Buffer.alloc(8)])],
    ["packed twice", "gzip", gzipSync(gzipSync(good))],
    ["without the zlib frame", "deflate", deflateRawSync(good)],
    ["of nothing", "br", Buffer.alloc(0)],
    ["in a coding of its own", "zstd", good],
    ["in two codings", "gzip, gzip", gzipSync(gzipSync(good))],
    ["in a coding with a long name", "x".repeat(4000), good],
    ["in a coding of every object", "__proto__", good],
  ])("a packed body %s is refused", async (_, encoding, body) => {
    expectProblem(await service.post("/v1/eval", body, { "Content-Encoding": encoding }), refused, encoding);
  });

  test("what is packed and fits is read", async () => {
    for (const [encoding, body] of Object.entries({
      gzip: gzipSync(good),
      br: brotliCompressSync(good),
      deflate: deflateSync(good),
    })) {
      expect((await service.post("/v1/eval", body, { "Content-Encoding": encoding })).status).toBe(200);
    }
  });
});
