import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { envelope } from "../support/envelope.ts";
import { post } from "./ask.ts";
import { jsonCalls, matedFen, rpcOf } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { expectUnharmed, mib, watchHealth } from "./health-watch.ts";
import { useService } from "./started-service.ts";

const service = useService();

/** All tests share the 256 MiB of spaces, because creating them takes a second. */
const blanks = Buffer.alloc(256 * mib, " ");
const bombs = { gzip: gzipSync(blanks), deflate: deflateSync(blanks) };
/** A brotli stream of 39 bytes. A decoder allocates 16 MB for this stream. */
const brotli = brotliCompressSync(Buffer.alloc(48 * mib, " "), {
  params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 5 },
});
/** A gzip body of less than 64 KiB, because some endpoints refuse larger bodies. */
const small = gzipSync(Buffer.alloc(60 * mib, " "));

const refused = { status: [413, 415, 400] };

async function statusOfGrpc(client: ClientHttp2Session, message: Buffer): Promise<unknown> {
  const stream = client.request({
    ":method": "POST",
    ":path": rpcOf("Evaluate"),
    "content-type": "application/grpc",
    te: "trailers",
    "grpc-encoding": "br",
  });
  const ends = Promise.all([once(stream, "response"), once(stream, "close")]);
  const trailing = once(stream, "trailers").catch(() => [{}]);
  stream.end(envelope(message, 1)).resume();
  const [[head]] = await ends;
  return head["grpc-status"] ?? (await trailing)[0]["grpc-status"];
}

describe("19: compression bombs are refused, and use little memory", () => {
  test.each(Object.entries(bombs))(
    "a body of 256 MiB that is compressed with %s is refused, and uses little memory",
    async (encoding, bomb) => {
      const stop = await watchHealth(service);
      for (const path of jsonCalls) {
        for (const body of [bomb, small.subarray(0, 60_000)]) {
          expectProblem(await service.post(path, body, { "Content-Encoding": encoding }), refused);
        }
      }
      const health = await stop();
      expectUnharmed(health);
    },
  );

  test("50 concurrent batches that decompress to 256 MiB each are refused, and use little memory", async () => {
    const stop = await watchHealth(service);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        post(`${service.url}/v1/eval/batch`, bombs.gzip, { "Content-Encoding": "gzip" }),
      ),
    );
    const health = await stop();
    for (const answer of answers) {
      // The service responds with 503 while other requests use all of the memory for batches.
      expectProblem(answer, { status: [413, 503] });
    }
    expectUnharmed(health);
  });

  test("every endpoint without a rate limit refuses 100 concurrent brotli bodies before decompression", async () => {
    const stop = await watchHealth(service);
    const query = `?connect=v1&encoding=json&compression=br&base64=1&message=${brotli.toString("base64url")}`;
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => [
        ...["/v1/review", "/v1/keys", rpcOf("CreateKey", "KeyService")].map((path) =>
          post(service.url + path, brotli, { "Content-Encoding": "br" }),
        ),
        service.get(rpcOf("GetPrice") + query),
      ]).flat(),
    );
    const client = connect(service.url);
    const statuses = await Promise.all(Array.from({ length: 100 }, () => statusOfGrpc(client, brotli)));
    client.destroy();
    const health = await stop();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([415, 501]));
    expect(new Set(statuses)).toEqual(new Set(["12"]));
    // The documented maximum of 100 ms excludes floods of connections. Here 400 connections and 100 calls arrive together.
    // The calls need 110 MB. If the service decompressed brotli, the calls would need 1.6 GB.
    expectUnharmed(health, { worstMs: 500, peakBytes: 350e6 });
  });

  test("every RPC protocol refuses a message with a decompressed size of 60 MiB", async () => {
    const stop = await watchHealth(service);
    const gzip = { "Content-Encoding": "gzip" };
    const unary = await service.post(rpcOf("Evaluate"), small, gzip);
    expect(unary.status).toBe(429);
    for (const bomb of [small, bombs.gzip]) {
      const stream = await service.post(rpcOf("StreamEvaluate"), envelope(bomb, 1), {
        "Content-Type": "application/connect+json",
        "Connect-Content-Encoding": "gzip",
        // Without this header the error would be compressed like the request.
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
    expectUnharmed(health);
  });

  const good = Buffer.from(JSON.stringify({ fen: matedFen }));
  test.each([
    ["that is not gzip", "gzip", good],
    ["that is truncated", "gzip", gzipSync(good).subarray(0, -9)],
    ["with a wrong checksum", "gzip", Buffer.concat([gzipSync(good).subarray(0, -8), Buffer.alloc(8)])],
    ["compressed twice", "gzip", gzipSync(gzipSync(good))],
    ["without the zlib frame", "deflate", deflateRawSync(good)],
    ["that is empty", "gzip", Buffer.alloc(0)],
    ["in brotli", "br", brotliCompressSync(good)],
    ["with the unsupported encoding zstd", "zstd", good],
    ["with two encodings", "gzip, gzip", gzipSync(gzipSync(good))],
    ["with a long encoding name", "x".repeat(4000), good],
    ["with the encoding name __proto__", "__proto__", good],
  ])("a compressed body %s is refused", async (_, encoding, body) => {
    expectProblem(await service.post("/v1/eval", body, { "Content-Encoding": encoding }), refused, encoding);
  });

  test("a gzip or deflate body is accepted if its decompressed size is below the limit", async () => {
    for (const [encoding, body] of Object.entries({
      gzip: gzipSync(good),
      deflate: deflateSync(good),
    })) {
      expect((await service.post("/v1/eval", body, { "Content-Encoding": encoding })).status).toBe(200);
    }
  });
});
