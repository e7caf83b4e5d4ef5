import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { preferredType } from "./message.ts";

/** Where metrics are read. */
export interface MetricsServer extends AsyncDisposable {
  readonly url: string;
}

/** What it shows, printed anew for every reader. */
export interface MetricsPage {
  print(format: "text" | "openmetrics"): Promise<string>;
}

/** Media type of the format that has exemplars. */
const openMetrics = "application/openmetrics-text";

const contentTypes = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: `${openMetrics}; version=1.0.0; charset=utf-8`,
};

/** Text, unless the Accept header prefers OpenMetrics. Prometheus names versions and escaping of both, which do not matter here. */
function formatFor(accept: string | undefined): keyof typeof contentTypes {
  const types = accept?.replace(/;\s*(?:version|escaping)=[^;,]*/g, "");
  return preferredType(types, ["text/plain", openMetrics]) === openMetrics ? "openmetrics" : "text";
}

/** Scrapers come one at a time and every few seconds; who comes more often than that waits. */
const connectionsMax = 16;
const requestMaxMs = 10_000;

/**
 * `GET /metrics` on a port of its own: it is for the operator alone, and must answer where the port of the service does not.
 *
 * @throws the error of the system where it cannot listen there.
 */
export async function openMetricsServer(
  page: MetricsPage,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<MetricsServer> {
  const server = createServer(
    { requestTimeout: requestMaxMs, headersTimeout: requestMaxMs },
    async (req, res) => {
      req.resume();
      const path = req.url?.split("?", 1)[0];
      const isRead = req.method === "GET" || req.method === "HEAD";
      if (path !== "/metrics" || !isRead) {
        res.writeHead(path === "/metrics" ? 405 : 404, {
          "Content-Type": "text/plain; charset=utf-8",
          Allow: "GET, HEAD",
        });
        res.end("Metrics are at GET /metrics.\n");
        return;
      }
      // Who watches the service must not be what ends it.
      const format = formatFor(req.headers.accept);
      const text = await page.print(format).catch(() => undefined);
      if (text === undefined) {
        res.writeHead(500, { "Content-Type": "text/plain; charset=utf-8" });
        res.end("Metrics could not be printed.\n");
        return;
      }
      res.writeHead(200, { "Content-Type": contentTypes[format], "Cache-Control": "no-store" });
      res.end(req.method === "HEAD" ? undefined : text);
    },
  );
  server.maxConnections = connectionsMax;
  server.listen(port, host);
  await once(server, "listening");
  const { port: opened } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${opened}/metrics`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
