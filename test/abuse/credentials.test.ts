import { describe, expect, test } from "vitest";
import { createApiKey } from "../../src/access/keys.ts";
import { envelope } from "../support/envelope.ts";
import { answersFrom, exchange, rawRequest } from "../support/raw-http.ts";
import { ask } from "./ask.ts";
import { matedFen, rpcOf } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { useService } from "./started-service.ts";

const service = useService({ KIBITZ_ACCESS: "public" });

const key = createApiKey();
const mistyped = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;

const bad = [
  "",
  " ",
  "Bearer",
  "Bearer ",
  `Bearer${key}`,
  `Bearer\t${key}`,
  `Bearer ${key} ${key}`,
  `Bearer ${key},`,
  `Bearer ${key}, Bearer ${key}`,
  `Bearer "${key}"`,
  `Bearer token=${key}`,
  `Bearer ${mistyped}`,
  `Bearer ${key}`,
  `Bearer ${key}x`,
  `Bearer ${key.slice(0, 39)}`,
  `Bearer ${key.toUpperCase()}`,
  `Bearer ${key}\u00e9`,
  "Bearer null",
  "Bearer undefined",
  "Bearer kbz_",
  "Bearer __proto__",
  "Bearer ' OR 1=1 --",
  `Bearer ${"a".repeat(8000)}`,
  key,
  `Basic ${Buffer.from(`user:${key}`).toString("base64")}`,
  `Basic ${key}`,
  `Digest username="${key}"`,
  `Token ${key}`,
  `ApiKey ${key}`,
  `Negotiate ${key}`,
];

describe("14: an invalid credential is refused with 401", () => {
  const single = JSON.stringify({ fen: matedFen });
  const batch = "/v1/eval/batch";
  const calls: readonly (readonly [path: string, body: string])[] = [
    ["/v1/eval", single],
    ["/v1/bestmove", single],
    ["/v1/eval/stream", single],
    [batch, JSON.stringify({ requests: [{ fen: matedFen }] })],
    ["/v1/keys", "{}"],
    // The body is invalid, too. A client without a valid credential gets no details about the body.
    ["/v1/eval", "{"],
    [batch, JSON.stringify({ requests: [{ x: 1 }, 7] })],
    [batch, JSON.stringify({ requests: [{ x: 1 }, { fen: matedFen }] })],
  ];

  test.each(calls)(
    "POST %s with the body %s and an invalid credential is refused with 401",
    async (path, body) => {
      for (const value of bad) {
        const head = [
          "Content-Type: application/json",
          `Authorization: ${value}`,
          `Content-Length: ${body.length}`,
          "Connection: close",
        ];
        const [answer] = answersFrom(await exchange(service.port, rawRequest(`POST ${path}`, head, body)));
        const problem = expectProblem(
          answer ?? expect.fail(value),
          { status: 401, code: "invalid_api_key" },
          value,
        );
        expect(problem.next_action).toBe("check_api_key");
        expect(answer?.headers["www-authenticate"]).toBe('Bearer error="invalid_token"');
        expect(JSON.stringify(answer)).not.toContain(key.slice(4, 20));
      }
    },
  );

  test("a request with two credentials is refused with 400, in both orders of the credentials", async () => {
    for (const pair of [
      ["Bearer x", `Bearer ${key}`],
      ["", "Bearer x"],
      ["Bearer x", ""],
    ]) {
      const head = [
        "Content-Type: application/json",
        ...pair.map((value) => `Authorization: ${value}`),
        "Content-Length: 2",
        "Connection: close",
      ];
      const [answer] = answersFrom(await exchange(service.port, rawRequest("POST /v1/eval", head, "{}")));
      expectProblem(answer ?? expect.fail("no answer"), { status: 400, code: "malformed_http" });
    }
  });

  test("a key is accepted only in the Authorization header", async () => {
    const issued = JSON.parse((await service.post("/v1/keys", {})).body).key;
    for (const path of [`/v1/keys/self?api_key=${issued}`, `/v1/keys/self?access_token=${issued}`]) {
      expect([400, 401]).toContain((await service.get(path)).status);
    }
    const elsewhere = await service.get("/v1/keys/self", { "X-Api-Key": issued });
    expectProblem(elsewhere, { status: 401, code: "invalid_api_key" });
    for (const headers of [{ Cookie: `key=${issued}` }, { "Proxy-Authorization": `Bearer ${issued}` }]) {
      expectProblem(await service.get("/v1/keys/self", headers), { status: 401, code: "api_key_required" });
    }
    expect((await service.get("/v1/keys/self", { Authorization: `Bearer ${issued}` })).status).toBe(200);
  });
});

test("a key never appears in a response or a log line, even if the client sends the key in a wrong field", async () => {
  const issued: string = JSON.parse((await service.post("/v1/keys", { name: "canary" })).body).key;
  const auth = { Authorization: `Bearer ${issued}` };
  // This request loads the key into the cache. A cached key is accepted even if the address has used up its error quota.
  expect((await service.get("/v1/keys/self", auth)).status).toBe(200);
  const fen = matedFen;
  const bodies: readonly object[] = [
    { fen: issued },
    { fen: issued, depth: 31 },
    { fen: `${matedFen} ${issued}` },
    { fen, engine: issued },
    { fen, path: issued },
    { fen, depth: issued },
    { fen, depth: 31, moves: [issued] },
    { fen, moves: [issued] },
    { fen, options: { [issued]: 1 } },
    { fen, options: { skill_level: issued } },
    { fen, options: { a: issued }, multipv: 99 },
    { fen, [issued]: issued },
    { fen, api_key: issued },
    { fen, [`x${issued}`]: { [issued]: [issued] } },
  ];
  const answers: unknown[] = [];
  for (const headers of [{}, auth]) {
    for (const body of bodies) {
      const rpcs = [rpcOf("Evaluate"), rpcOf("FindBestMove")];
      const message = envelope(Buffer.from(JSON.stringify(body)));
      answers.push(
        ...(await Promise.all([
          ...["/v1/eval", "/v1/bestmove", "/v1/eval/stream", ...rpcs].map((path) =>
            service.post(path, body, headers),
          ),
          service.post("/v1/eval/batch", { requests: [body] }, headers),
          ...["application/grpc-web+json", "application/connect+json"].map((type) =>
            service.post(rpcOf("StreamEvaluate"), message, { ...headers, "Content-Type": type }),
          ),
        ])),
      );
    }
    for (const pgn of [
      issued,
      `[White "${issued}"]\n\n1. e4`,
      `1. e4 {${issued}} e5`,
      `1. e4 {${issued}} e5 2. Ke3`,
    ]) {
      answers.push(await service.post("/v1/review", { pgn, depth: 1 }, headers));
    }
    for (const text of [issued, `"${issued}"`, `{${issued}`, `{"fen":"${issued}","fen":1}`]) {
      answers.push(await service.post("/v1/eval", text, headers));
      answers.push(await service.post(rpcOf("Evaluate"), text, headers));
    }
    const message = encodeURIComponent(JSON.stringify({ fen: issued }));
    for (const path of [
      `/v1/${issued}`,
      `/${issued}`,
      `/problems/${issued}`,
      `/price?depth=${issued}`,
      `/price?${issued}=1`,
      `/engines?key=${issued}`,
      `/healthz?key=${issued}`,
      `/v1/keys/self?api_key=${issued}`,
      `${rpcOf("Evaluate")}?connect=v1&encoding=${issued}&message=1`,
      `${rpcOf("Evaluate")}?connect=v1&encoding=json&message=${message}`,
      `${rpcOf("Evaluate")}?connect=v1&encoding=json&compression=${issued}&message=${message}`,
      rpcOf(issued),
      `/${issued}/Evaluate`,
    ]) {
      answers.push(
        ...(await Promise.all([
          service.get(path, headers),
          service.post(path, {}, headers),
          service.post(path, "", { ...headers, "Content-Type": "application/grpc" }),
        ])),
      );
    }
    answers.push(await service.post(`/v1/eval?${issued}=1&token=${issued}`, { fen }, headers));
    answers.push(await service.post("/v1/keys", { name: issued }, headers));
    answers.push(await service.post("/v1/keys", { [issued]: 1 }, headers));
  }
  const names =
    "X-Request-Id X-Api-Key Cookie User-Agent Accept Content-Type Content-Encoding Origin Host Referer Forwarded Via " +
    "X-Forwarded-For traceparent tracestate If-None-Match Connect-Timeout-Ms grpc-timeout Connect-Protocol-Version " +
    "grpc-encoding grpc-accept-encoding Connect-Content-Encoding Accept-Encoding Range Expect Prefer Date From TE";
  for (const name of names.split(" ")) {
    const named = { [name]: issued };
    const asked = ["/v1/eval", rpcOf("Evaluate")].map((path) => service.post(path, { fen }, named));
    answers.push(...(await Promise.all([...asked, service.get("/", named)])));
  }
  for (const value of [
    issued,
    `Basic ${issued}`,
    `Bearer ${issued} x`,
    `Bearer x${issued}`,
    `Bearer ${issued}x`,
  ]) {
    answers.push(await service.post("/v1/eval", { fen }, { Authorization: value }));
    answers.push(await service.post(rpcOf("Evaluate"), { fen }, { Authorization: value }));
  }
  answers.push(await service.get("/v1/keys/self", auth));
  answers.push(await ask(`${service.url}/v1/keys/self`, { method: "DELETE", headers: auth }));
  answers.push(await service.get("/v1/keys/self", auth));
  answers.push(await exchange(service.port, `${issued} / HTTP/1.1\r\nHost: x\r\n\r\n`));
  answers.push(await exchange(service.port, `GET / HTTP/1.1\r\nHost: ${issued} x\r\n\r\n`));
  answers.push(await exchange(service.port, `GET / HTTP/1.1\r\n${issued} : x\r\nHost: x\r\n\r\n`));
  answers.push(await exchange(service.port, `GET ${issued} HTTP/1.1\r\nHost: x\r\n\r\n`));

  const chance = issued.slice(4, -6);
  for (const answer of answers) {
    const text = JSON.stringify(answer);
    expect(text.includes(chance), text.slice(0, 400)).toBe(false);
    // Connect encodes the details of an error in base64.
    for (const [, value = ""] of text.matchAll(/\\"value\\":\\"([\w+/=-]+)\\"/g)) {
      expect(Buffer.from(value, "base64").toString("latin1").includes(chance), text.slice(0, 400)).toBe(
        false,
      );
    }
  }
  // The service writes the log every 20 ms.
  await expect.poll(() => service.printed()).toContain("RevokeKey");
  expect(service.printed().includes(chance)).toBe(false);
});
