import { once } from "node:events";
import { request } from "node:http";
import { json } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { allowedHosts, createSenderCheck } from "../../../src/protocols/mcp/senders.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { oldMessage } from "./messages.ts";

const page = "https://page.example";

describe("who may send", () => {
  const loopback = createSenderCheck({ origins: [page, "*"], hosts: allowedHosts("127.0.0.1", undefined) });
  const anywhere = createSenderCheck({ origins: ["*"], hosts: allowedHosts("0.0.0.0", undefined) });
  const named = createSenderCheck({ origins: [], hosts: allowedHosts("::", ["kibitz.example"]) });
  const added = createSenderCheck({ origins: [], hosts: allowedHosts("::1", ["kibitz.example"]) });

  test.each([
    ["a program on loopback", loopback, { host: "localhost:8080" }],
    ["a program by an address", loopback, { host: "127.0.0.1" }],
    ["a program by another address", loopback, { host: "[::1]:8080" }],
    ["a page that the operator named", loopback, { host: "localhost", origin: page }],
    ["the page of the service itself", loopback, { host: "localhost:8080", origin: "http://localhost:8080" }],
    ["a program by any name, where the port is for all", anywhere, { host: "chess.example" }],
    ["a program by the name that the operator gave", named, { host: "Kibitz.Example:443" }],
    ["a page at that name", named, { host: "kibitz.example", origin: "http://kibitz.example" }],
    [
      "a page at that name with the port of http",
      named,
      { host: "kibitz.example:80", origin: "http://kibitz.example" },
    ],
    ["a program by a name that was added", added, { host: "kibitz.example" }],
    ["a program on loopback beside it", added, { host: "localhost" }],
  ])("a request may be sent to /mcp: %s", (_, check, headers) => {
    expect(() => check(headers, "http")).not.toThrow();
  });

  test("a page at the same name behind a proxy that speaks https may send to /mcp", () => {
    const headers = { host: "kibitz.example", origin: "https://kibitz.example" };
    expect(() => named(headers, "https")).not.toThrow();
  });

  test.each([
    [
      "a page of another scheme",
      loopback,
      { host: "localhost:8080", origin: "https://localhost:8080" },
      "origin_not_allowed",
    ],
    [
      "the page of a browser's extension",
      loopback,
      { host: "localhost:8080", origin: "chrome-extension://localhost:8080" },
      "origin_not_allowed",
    ],
    ["a name that leads here from elsewhere", loopback, { host: "evil.example:8080" }, "host_not_allowed"],
    [
      "such a name with its own page",
      loopback,
      { host: "evil.example", origin: "http://evil.example" },
      "host_not_allowed",
    ],
    [
      "a page of another port",
      loopback,
      { host: "localhost:8080", origin: "http://localhost:3000" },
      "origin_not_allowed",
    ],
    [
      "a page, where all origins may read answers",
      anywhere,
      { host: "a.example", origin: page },
      "origin_not_allowed",
    ],
    [
      "a page that a name leads here, where the port is for all",
      anywhere,
      { host: "evil.example", origin: "http://evil.example" },
      "origin_not_allowed",
    ],
    ["a page of nowhere", loopback, { host: "localhost", origin: "null" }, "origin_not_allowed"],
    ["a page that says to be all", anywhere, { host: "a.example", origin: "*" }, "origin_not_allowed"],
    ["a name that the operator did not give", named, { host: "localhost" }, "host_not_allowed"],
    ["no name", loopback, {}, "host_not_allowed"],
  ])("a request may not be sent to /mcp: %s", (_, check, headers, code) => {
    expect(() => check(headers, "http")).toThrow(expect.objectContaining({ code }));
  });
});

describe("over HTTP", () => {
  const app = useApp(
    {
      KIBITZ_ACCESS: "public",
      KIBITZ_CORS_ORIGINS: page,
      KIBITZ_ALLOWED_HOSTS: "kibitz.example",
      KIBITZ_TRUST_PROXY: "127.0.0.1",
    },
    { engines: createEnginesInProcess() },
  );

  async function ask(more: Readonly<Record<string, string>>, method = "POST") {
    const { headers, body } = oldMessage("ping");
    const asked = request(`${app.url}/mcp`, { method, headers: { ...headers, ...more } });
    asked.end(method === "POST" ? JSON.stringify(body) : undefined);
    const [answer] = await once(asked, "response");
    const isProblem = answer.headers["content-type"] === "application/problem+json";
    return { status: answer.statusCode, body: isProblem ? await json(answer) : answer.resume() && undefined };
  }

  test.each(["POST", "GET"])(
    "a foreign origin and a foreign host get 403 from /mcp, also for %s",
    async (method) => {
      expect(await ask({ Origin: "https://evil.example" }, method)).toMatchObject({
        status: 403,
        body: { code: "origin_not_allowed", next_action: "contact_operator" },
      });
      expect(await ask({ Host: "evil.example" }, method)).toMatchObject({
        status: 403,
        body: { code: "host_not_allowed", next_action: "contact_operator" },
      });
    },
  );

  test("origins and hosts that the operator has named are answered by /mcp", async () => {
    expect(await ask({ Origin: page, Host: "kibitz.example" })).toMatchObject({ status: 200 });
  });

  test("a page of this server by https is answered by /mcp if a trusted proxy says that it spoke https", async () => {
    const own = { Host: "kibitz.example", Origin: "https://kibitz.example" };
    expect(await ask({ ...own, "X-Forwarded-Proto": "https" })).toMatchObject({ status: 200 });
    expect(await ask(own)).toMatchObject({ status: 403, body: { code: "origin_not_allowed" } });
  });

  test("a page that is named may send the headers of MCP", async () => {
    const { headers } = await fetch(`${app.url}/mcp`, {
      method: "OPTIONS",
      headers: { Origin: page, "Access-Control-Request-Method": "POST" },
    });
    expect(headers.get("access-control-allow-headers")?.toLowerCase().split(", ")).toEqual(
      expect.arrayContaining(["mcp-protocol-version", "mcp-method", "mcp-name"]),
    );
  });
});
