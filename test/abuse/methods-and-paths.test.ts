import { describe, expect, test } from "vitest";
import { http2Get } from "../http/http2-get.ts";
import { answersFrom, exchange, rawRequest } from "../support/raw-http.ts";
import { jsonCalls, rpcOf } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { useSharedService } from "./started-service.ts";

const service = useSharedService();
const pages = [
  "/",
  "/healthz",
  "/readyz",
  "/problems",
  "/problems/invalid-fen",
  "/engines",
  "/v1/engines",
  "/price",
  "/v1/price",
];

async function send(method: string, path: string, headers: readonly string[] = [], body = "") {
  const received = await exchange(
    service.port,
    rawRequest(
      `${method} ${path}`,
      [...headers, "Connection: close", ...(body ? [`Content-Length: ${body.length}`] : [])],
      body,
    ),
  );
  return received === "" ? undefined : (answersFrom(received)[0] ?? undefined);
}

describe("11: an unsupported method is refused with 405 and the allowed methods", () => {
  const unsafe = ["PUT", "PATCH", "PROPFIND", "TRACE", "LINK", "M-SEARCH", "SOURCE"];

  test.each(jsonCalls)("%s refuses every method except POST with 405 and the header Allow", async (path) => {
    for (const method of ["GET", "HEAD", "DELETE", ...unsafe]) {
      const answer = (await send(method, path)) ?? expect.fail(`no answer to ${method}`);
      expect(answer.status, method).toBe(405);
      expect(answer.headers.allow).toContain("POST");
      if (method !== "HEAD") {
        expectProblem(answer, { status: 405, code: "method_not_allowed" });
      }
    }
  });

  test.each(pages)(
    "%s refuses every method except GET and HEAD with 405 and the header Allow",
    async (path) => {
      for (const method of ["POST", "DELETE", ...unsafe]) {
        const answer =
          (await send(method, path, ["Content-Type: application/json"], "{}")) ?? expect.fail(method);
        expectProblem(answer, { status: 405, code: "method_not_allowed" });
        expect(answer.headers.allow, method).toContain("GET");
      }
    },
  );

  test("an RPC refuses every method except POST and GET with 405", async () => {
    for (const method of ["DELETE", ...unsafe]) {
      const answer = (await send(method, rpcOf("Evaluate"))) ?? expect.fail(method);
      expectProblem(answer, { status: 405, code: "method_not_allowed" });
    }
  });

  test.each(["get", "Get", "EVAL", "G ET", "GET\u00e9", "", "X".repeat(10_000)])(
    "a request line with an invalid method is refused: %j",
    async (method) => {
      expectProblem(
        (await send(method, "/healthz")) ?? expect.fail("no answer"),
        { status: [400, 431, 414] },
        method,
      );
    },
  );
});

describe("12: an unknown path is refused with 404", () => {
  test.each([
    "/nope",
    "/v1",
    "/v1/",
    "/v2/eval",
    "/v1/eval/",
    "/v1/evaluate",
    "//v1/eval",
    "/v1//eval",
    "/./v1/eval",
    "/v1/../v1/eval",
    "/../../../../etc/passwd",
    "/..%2f..%2f..%2fetc%2fpasswd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/..%5c..%5cwindows",
    "/v1/eval%00",
    "/v1/eval%0d%0aX-Injected:%20yes",
    "/v1/eval;jsessionid=x",
    "/v1/eval%20",
    "/v1/%65val",
    "/V1/EVAL",
    "/.env",
    "/.git/config",
    "/wp-login.php",
    "/cgi-bin/luci",
    "/metrics",
    "/debug/pprof",
    "/actuator/env",
    "/$%7Bjndi:ldap://x%7D",
    "/{{7*7}}",
    "/<script>alert(1)</script>",
    "/'OR'1'='1",
    "/%",
    "/%zz",
    "/%ff%fe",
    `/${"a".repeat(7000)}`,
    `/${"a/".repeat(3500)}`,
    "/problems/nope",
    "/problems/",
    "/problems/../../etc/passwd",
    "/chess.analysis.v1.AnalysisService",
    "/chess.analysis.v1.AnalysisService/",
    "/grpc.reflection.v1.ServerReflection/Nope",
    "/?x=1/../..",
  ])("a request to the unknown path %s gets the status 404 or 501", async (path) => {
    for (const method of ["GET", "POST"]) {
      const answer = (await send(method, path)) ?? expect.fail("no answer");
      expect(JSON.stringify(answer.headers)).not.toMatch(/injected/i);
      if (path.startsWith("/?")) {
        expect([200, 405]).toContain(answer.status);
      } else {
        expectProblem(answer, { status: [404, 501] }, path);
      }
    }
  });

  test.each([
    "nope",
    "*",
    "http://[/",
    "ftp://x/healthz",
    "javascript:alert(1)",
    "x:80",
    "?a",
    "#a",
    "\\v1\\eval",
    "/\u00ff",
  ])("a request target that is not a path is refused: %s", async (target) => {
    expectProblem((await send("GET", target)) ?? expect.fail("no answer"), { status: [400, 404] }, target);
  });
});

describe("36: a request target that only a proxy or OPTIONS has", () => {
  test.each(["GET", "HEAD"])(
    "%s * of a browser gets the status 404, and the service goes on",
    async (method) => {
      const answer = await send(method, "*", ["Accept: text/html"]);
      expect(answer?.status).toBe(404);
      expect((await service.get("/healthz")).status).toBe(200);
    },
  );

  test.each(["*", "/", "http://x/healthz"])(
    "over HTTP/2, a foreign scheme with the path %s gets the status 400, and the service goes on",
    async (path) => {
      const foreign = { ":scheme": "foo", ":path": path, accept: "text/html" };
      expect((await http2Get(service.url, foreign)).status).toBe(400);
      expect((await service.get("/healthz")).status).toBe(200);
    },
  );
});

describe("13: HEAD", () => {
  test.each(pages)(
    "the response to HEAD %s has the same headers as the response to GET, and no body",
    async (path) => {
      const [get, head] = [await send("GET", path), await send("HEAD", path)];
      expect(head?.status).toBe(get?.status);
      expect(head?.body).toBe("");
      for (const name of ["content-type", "content-length", "etag", "cache-control"]) {
        expect(head?.headers[name], name).toBe(get?.headers[name]);
      }
    },
  );
});
