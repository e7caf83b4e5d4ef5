import { describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { open } from "../../support/raw-http.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { heads } from "./heads.ts";

const page = "https://page.example";
const asked = { Origin: page };

/** For each request: the name of the expected status in `heads`, the message, and the headers. */
const requests = [
  ["ok", { fen: startFen, depth: 1 }, {}],
  ["upgrade", { fen: startFen, depth: 30 }, {}],
  ["unauthenticated", { fen: startFen, depth: 1 }, { Authorization: "Bearer kbz_wrong" }],
] as const;

/** Paths of pages, unknown paths and invalid paths. */
const others = [
  "/",
  "/healthz",
  "/readyz",
  "/engines",
  "/price",
  "/problems",
  "/problems/nothing",
  "/nothing",
  "/v1/keys/self",
  "/v1/eval",
  "/chess.analysis.v1.AnalysisService/Evaluate",
  "/chess.analysis.v1.AnalysisService/Nothing",
];

const preflightOf = (url: string, headers: Readonly<Record<string, string>>) =>
  fetch(url, { method: "OPTIONS", headers: { "Access-Control-Request-Method": "POST", ...headers } });

describe("scripts of every origin", () => {
  const app = useApp({ KIBITZ_ACCESS: "public" }, { engines: createEnginesInProcess() });

  describe.each(heads)("through $name", ({ ask, ...kind }) => {
    test.each(requests)(
      "a script of any origin can read the answer: %s",
      async (outcome, request, headers) => {
        const answer = await ask(app.url, request, { ...asked, ...headers });
        expect(answer.status).toBe(kind[outcome]);
        expect(answer.headers.get("access-control-allow-origin")).toBe("*");
        const exposed = answer.headers.get("access-control-expose-headers")?.toLowerCase().split(", ");
        expect(exposed).toEqual(
          expect.arrayContaining(["ratelimit", "ratelimit-policy", "retry-after", "x-request-id", "etag"]),
        );
        expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
      },
    );
  });

  test.each(others)(
    "a script of any origin can read the answer of GET %s, and caches store the answer for each origin",
    async (path) => {
      const { headers } = await fetch(app.url + path, { headers: asked });
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("vary")).toMatch(/\bOrigin\b/);
      const unasked = await fetch(app.url + path);
      expect(unasked.headers.get("access-control-allow-origin")).toBeNull();
      expect(unasked.headers.get("vary")).toMatch(/\bOrigin\b/);
    },
  );

  test("a script of any origin can read the error about a request target that is too long", async () => {
    const { status, headers } = await fetch(`${app.url}/v1/eval?fen=${"x".repeat(20_000)}`, {
      headers: asked,
    });
    expect([status, headers.get("access-control-allow-origin")]).toEqual([414, "*"]);
  });

  test.each(others)(
    "a script of any origin may send a preflight for %s, and browsers may cache the response for two hours",
    async (path) => {
      const { status, headers } = await preflightOf(app.url + path, asked);
      expect(status).toBe(204);
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("access-control-allow-methods")?.split(", ")).toEqual(
        expect.arrayContaining(["GET", "POST", "DELETE"]),
      );
      expect(headers.get("access-control-allow-headers")?.toLowerCase().split(", ")).toEqual(
        expect.arrayContaining([
          "authorization",
          "content-type",
          "connect-protocol-version",
          "connect-timeout-ms",
          "x-grpc-web",
          "x-user-agent",
          "grpc-timeout",
          "if-none-match",
          "traceparent",
          "x-request-id",
        ]),
      );
      expect(headers.get("access-control-max-age")).toBe("7200");
      expect(headers.get("x-request-id")).not.toBeNull();
    },
  );

  test("a script of any origin can read the error about a malformed request", async () => {
    const { socket, closed } = await open(Number(new URL(app.url).port));
    socket.write(`GET / HTTP/1.1\r\nHost: a b\r\nOrigin: ${page}\r\nConnection: close\r\n\r\n`);
    const answer = await closed;
    expect(answer).toContain("HTTP/1.1 400 ");
    expect(answer).toContain("Access-Control-Allow-Origin: *\r\n");
  });

  test("an OPTIONS request that is not a preflight gets no CORS headers", async () => {
    const { status, headers } = await fetch(`${app.url}/v1/eval`, { method: "OPTIONS", headers: asked });
    expect([status, headers.get("allow")]).toEqual([204, "POST, OPTIONS"]);
    expect(headers.get("access-control-allow-methods")).toBeNull();
  });
});

describe("with listed origins", () => {
  const app = useApp(
    { KIBITZ_CORS_ORIGINS: `https://other.example, ${page}` },
    { engines: createEnginesInProcess() },
  );

  test("a script of a listed origin can read answers", async () => {
    const { headers } = await fetch(`${app.url}/price`, { headers: asked });
    expect(headers.get("access-control-allow-origin")).toBe(page);
    expect(headers.get("vary")).toBe("Origin, Authorization");
    expect((await preflightOf(app.url, asked)).headers.get("access-control-allow-origin")).toBe(page);
  });

  test.each(["https://page.example.org", "http://page.example", "null", "https://PAGE.example"])(
    "a script of %s cannot read answers, because this origin is not listed",
    async (origin) => {
      for (const answer of [
        await fetch(`${app.url}/price`, { headers: { Origin: origin } }),
        await preflightOf(app.url, { Origin: origin }),
      ]) {
        expect(answer.ok).toBe(true);
        expect(permissionsIn(answer)).toEqual([]);
      }
    },
  );
});

/**
 * In these access modes, a script of another website must not read answers: a user inside a private network may open such a
 * website.
 */
describe.each(["keys", "open"])("with KIBITZ_ACCESS=%s", (mode) => {
  describe("without listed origins", () => {
    const app = useApp({ KIBITZ_ACCESS: mode }, { engines: createEnginesInProcess() });

    test.each(others)(
      `with KIBITZ_ACCESS=${mode}, scripts of other origins cannot read GET %s or send a preflight`,
      async (path) => {
        for (const answer of [
          await fetch(app.url + path, { headers: asked }),
          await preflightOf(app.url + path, asked),
        ]) {
          expect(permissionsIn(answer)).toEqual([]);
        }
      },
    );

    test.each(heads)(
      `with KIBITZ_ACCESS=${mode}, scripts of other origins cannot read answers or errors through $name`,
      async ({ ask, unauthenticated }) => {
        const request = { fen: startFen, depth: 1 };
        expect(permissionsIn(await ask(app.url, request, asked))).toEqual([]);
        const refused = await ask(app.url, request, { ...asked, Authorization: "Bearer kbz_wrong" });
        expect(refused.status).toBe(unauthenticated);
        expect(permissionsIn(refused)).toEqual([]);
      },
    );

    test(`with KIBITZ_ACCESS=${mode}, scripts of other origins cannot read the error about a malformed request`, async () => {
      const { socket, closed } = await open(Number(new URL(app.url).port));
      socket.write(`GET / HTTP/1.1\r\nHost: a\r\nOrigin: ${page}\r\nX A\r\n\r\n`);
      const answer = await closed;
      expect(answer).toContain("HTTP/1.1 400 ");
      expect(answer.toLowerCase()).not.toContain("access-control");
    });
  });

  describe.each([
    ["*", "*"],
    [page, page],
  ])("with the listed origin %s", (named, allowed) => {
    const app = useApp(
      { KIBITZ_ACCESS: mode, KIBITZ_CORS_ORIGINS: named },
      { engines: createEnginesInProcess() },
    );

    test(`with KIBITZ_ACCESS=${mode}, scripts of the listed origins can read answers`, async () => {
      const { headers } = await fetch(`${app.url}/price`, { headers: asked });
      expect(headers.get("access-control-allow-origin")).toBe(allowed);
    });
  });
});

const permissionsIn = ({ headers }: Pick<Response, "headers">) =>
  [...headers.keys()].filter((name) => name.startsWith("access-control"));
