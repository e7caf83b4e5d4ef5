import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/**
 * Starts a proxy that strips a path prefix. Returns the address of the proxy with a final slash. The proxy is closed after the
 * test.
 */
export async function startPrefixProxy(service: string, prefix: string): Promise<string> {
  const proxy = createServer((asked, answer) => {
    const { method = "GET", headers, url = "" } = asked;
    if (!url.startsWith(`${prefix}/`)) {
      answer.writeHead(404).end("not of this service");
      return;
    }
    const passed = request(service + url.slice(prefix.length), { method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    passed.on("error", () => answer.destroy());
    answer.on("close", () => passed.destroy());
    asked.pipe(passed);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${prefix}/`;
}
