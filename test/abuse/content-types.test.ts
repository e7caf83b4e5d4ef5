import { describe, expect, test } from "vitest";
import { answersFrom, exchange, rawRequest } from "../support/raw-http.ts";
import { ask } from "./ask.ts";
import { matedFen, rpcOf } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { useSharedService } from "./started-service.ts";

const service = useSharedService();
const body = JSON.stringify({ fen: matedFen });

const odd = [
  "",
  " ",
  "json",
  "/",
  "application",
  "application/",
  "/json",
  "text/plain",
  "text/json",
  "text/html",
  "application/xml",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/octet-stream",
  "application/jsonp",
  "application/javascript",
  "application/json; charset=utf-16",
  "application/json; charset=iso-8859-1",
  "application/json, text/plain",
  "text/plain, application/json",
  "application/json\u00e9",
  "*/*",
  "application/*",
  `application/json; ${"x".repeat(4000)}`,
  "application/proto",
  "application/grpc",
  "application/connect+json",
  `application/${"x".repeat(8000)}`,
];

describe("04: a body with an unsupported content type is refused", () => {
  test.each(["/v1/eval", "/v1/bestmove", "/v1/eval/stream", "/v1/eval/batch", "/v1/keys"])(
    "%s refuses a body with an unsupported content type with 415 or 400",
    async (path) => {
      for (const type of odd) {
        const head = [`Content-Type: ${type}`, `Content-Length: ${body.length}`, "Connection: close"];
        const [answer] = answersFrom(await exchange(service.port, rawRequest(`POST ${path}`, head, body)));
        // The service may ignore an unknown parameter of `application/json`.
        if (answer?.status === 200 || (answer?.status === 400 && /; x/.test(type))) {
          expect(type).toMatch(/^application\/json; x/);
          continue;
        }
        expectProblem(
          answer ?? expect.fail(`no answer to ${type}`),
          { status: [415, 400], code: ["unsupported_media_type", "malformed_http"] },
          type,
        );
      }
    },
  );

  test("a body without a content type is refused with 415", async () => {
    const answer = await ask(`${service.url}/v1/eval`, { method: "POST", body });
    expectProblem(answer, { status: 415, code: "unsupported_media_type" });
  });

  test("a request with two content types is refused with 400", async () => {
    const head = [
      "Content-Type: application/json",
      "Content-Type: text/plain",
      "Content-Length: 2",
      "Connection: close",
    ];
    const [answer] = answersFrom(await exchange(service.port, rawRequest("POST /v1/eval", head, "{}")));
    expectProblem(answer ?? expect.fail("no answer"), { status: 400, code: "malformed_http" });
  });

  test("an RPC refuses a body with an unsupported content type with 415 or 400", async () => {
    for (const type of odd.filter((one) => !/^application\/(json|proto|grpc)/.test(one))) {
      const head = [`Content-Type: ${type}`, `Content-Length: ${body.length}`, "Connection: close"];
      const [answer] = answersFrom(
        await exchange(service.port, rawRequest(`POST ${rpcOf("Evaluate")}`, head, body)),
      );
      expectProblem(answer ?? expect.fail(`no answer to ${type}`), { status: [415, 400] }, type);
    }
  });

  test("an error response repeats at most 64 characters of a content type", async () => {
    const type = `application/grpc+${"x".repeat(4000)}`;
    const head = [`Content-Type: ${type}`, "Content-Length: 0", "Connection: close"];
    const received = await exchange(service.port, rawRequest("POST /no.such.Service/Call", head));
    expect(received).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(received).not.toContain("x".repeat(65));
  });
});
