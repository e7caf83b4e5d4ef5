import { once } from "node:events";
import { request } from "node:http";
import { json } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { allowedHosts, createSenderCheck } from "../../../src/protocols/mcp/senders.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { oldMessage } from "./messages.ts";

const page = "https://page.example";

const proxy = "192.0.2.1";
const anyone = "192.0.2.2";

describe("allowed senders", () => {
  const loopback = createSenderCheck({
    origins: [page, "*"],
    hosts: allowedHosts("127.0.0.1", undefined),
    trustProxy: [proxy],
  });
  const anywhere = createSenderCheck({
    origins: ["*"],
    hosts: allowedHosts("0.0.0.0", undefined),
    trustProxy: [proxy],
  });
  const named = createSenderCheck({
    origins: [],
    hosts: allowedHosts("::", ["kibitz.example"]),
    trustProxy: [proxy],
  });
  const added = createSenderCheck({
    origins: [],
    hosts: allowedHosts("::1", ["kibitz.example"]),
    trustProxy: [proxy],
  });

  test.each([
    ["a program on loopback", loopback, { host: "localhost:8080" }],
    ["a program that uses an IPv4 address", loopback, { host: "127.0.0.1" }],
    ["a program that uses an IPv6 address", loopback, { host: "[::1]:8080" }],
    ["a page of a configured origin", loopback, { host: "localhost", origin: page }],
    ["the service's own web page", loopback, { host: "localhost:8080", origin: "http://localhost:8080" }],
    ["a program that uses any host name of a public port", anywhere, { host: "chess.example" }],
    ["a program that uses a configured host name", named, { host: "Kibitz.Example:443" }],
    ["a page of a configured host name", named, { host: "kibitz.example", origin: "http://kibitz.example" }],
    [
      "a page of a configured host name with port 80",
      named,
      { host: "kibitz.example:80", origin: "http://kibitz.example" },
    ],
    ["a program that uses a configured host name of a loopback server", added, { host: "kibitz.example" }],
    ["a loopback program although a host name is configured", added, { host: "localhost" }],
  ])("/mcp accepts requests from %s", (_, check, headers) => {
    expect(() => check(headers, anyone)).not.toThrow();
  });

  test("/mcp behind an HTTPS proxy accepts requests from a page with the same host name as the server", () => {
    const headers = {
      host: "kibitz.example",
      origin: "https://kibitz.example",
      "x-forwarded-proto": "https",
    };
    expect(() => named(headers, proxy)).not.toThrow();
    expect(() => named(headers, anyone)).toThrow(expect.objectContaining({ code: "origin_not_allowed" }));
  });

  test.each([
    [
      "a page of another scheme",
      loopback,
      { host: "localhost:8080", origin: "https://localhost:8080" },
      "origin_not_allowed",
    ],
    [
      "a browser extension",
      loopback,
      { host: "localhost:8080", origin: "chrome-extension://localhost:8080" },
      "origin_not_allowed",
    ],
    ["a program that uses an unknown host name", loopback, { host: "evil.example:8080" }, "host_not_allowed"],
    [
      "a page of an unknown host name",
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
      "a foreign page even if all origins may read responses",
      anywhere,
      { host: "a.example", origin: page },
      "origin_not_allowed",
    ],
    [
      "a page of an unknown host name of a public port",
      anywhere,
      { host: "evil.example", origin: "http://evil.example" },
      "origin_not_allowed",
    ],
    ["a page with the origin null", loopback, { host: "localhost", origin: "null" }, "origin_not_allowed"],
    ["a page with the origin *", anywhere, { host: "a.example", origin: "*" }, "origin_not_allowed"],
    [
      "a program that uses a host name that is not configured",
      named,
      { host: "localhost" },
      "host_not_allowed",
    ],
    ["a program without a Host header", loopback, {}, "host_not_allowed"],
  ])("/mcp refuses requests from %s", (_, check, headers, code) => {
    expect(() => check(headers, anyone)).toThrow(expect.objectContaining({ code }));
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
    "/mcp refuses %s requests with a foreign origin or host with 403",
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

  test("/mcp accepts requests with configured origins and hosts", async () => {
    expect(await ask({ Origin: page, Host: "kibitz.example" })).toMatchObject({ status: 200 });
  });

  test("/mcp accepts an HTTPS page of this server if a trusted proxy reports HTTPS", async () => {
    const own = { Host: "kibitz.example", Origin: "https://kibitz.example" };
    expect(await ask({ ...own, "X-Forwarded-Proto": "https" })).toMatchObject({ status: 200 });
    expect(await ask(own)).toMatchObject({ status: 403, body: { code: "origin_not_allowed" } });
  });

  test("a page of a configured origin may send the headers of MCP", async () => {
    const { headers } = await fetch(`${app.url}/mcp`, {
      method: "OPTIONS",
      headers: { Origin: page, "Access-Control-Request-Method": "POST" },
    });
    expect(headers.get("access-control-allow-headers")?.toLowerCase().split(", ")).toEqual(
      expect.arrayContaining(["mcp-protocol-version", "mcp-method", "mcp-name"]),
    );
  });
});
