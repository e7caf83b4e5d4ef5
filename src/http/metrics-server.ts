import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { errorFromUnknown, KibitzError } from "../errors/errors.ts";
import { identifyRequest } from "../request/context.ts";
import { type NodeRequest, type NodeResponse, preferredType, type RequestHandler } from "./message.ts";
import { answerGet } from "./pages/page.ts";
import { sendProblem } from "./send-problem.ts";

/** The server on the operator's port, with metrics and probes. */
export interface MetricsServer extends AsyncDisposable {
  /** The URL of the metrics. */
  readonly url: string;
  /** Makes this port answer `/healthz` and `/readyz` too. */
  serveProbes(probes: RequestHandler): void;
}

interface PrintedMetrics {
  print(format: "text" | "openmetrics"): Promise<string>;
}

/** Media type of the metrics format that has exemplars. */
const openMetrics = "application/openmetrics-text";

const contentTypes = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: `${openMetrics}; version=1.0.0; charset=utf-8`,
};

/**
 * Returns the text format, unless the Accept header prefers OpenMetrics. The versions and escapings that Prometheus names in the
 * header are ignored.
 */
function formatFor(accept: string | undefined): keyof typeof contentTypes {
  const types = accept?.replace(/;\s*(?:version|escaping)=[^;,]*/g, "");
  return preferredType(types, ["text/plain", openMetrics]) === openMetrics ? "openmetrics" : "text";
}

/** The maximum number of connections. It is enough for scrapers and probes, which send a request every few seconds. */
const connectionsMax = 16;
const requestMaxMs = 10_000;

/**
 * Serves `GET /metrics` and the probes on a separate port. The operator needs them even if clients have taken every connection of
 * the service's port.
 *
 * @throws the system's error if the port is not available
 */
export async function openMetricsServer(
  metrics: PrintedMetrics,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<MetricsServer> {
  let probes: RequestHandler = () => false;

  async function answer(req: NodeRequest, res: NodeResponse): Promise<void> {
    const { path } = identifyRequest(req, () => false);
    if (await probes(req, res)) {
      return;
    }
    if (path !== "/metrics") {
      throw new KibitzError("not_found", "This port has GET /metrics, /healthz and /readyz.");
    }
    const format = formatFor(req.headers.accept);
    const body = await metrics.print(format);
    answerGet(req, res, {
      contentType: contentTypes[format],
      body,
      headers: { "Cache-Control": "no-store" },
    });
  }

  const timeouts = { requestTimeout: requestMaxMs, headersTimeout: requestMaxMs };
  const server = createServer(timeouts, (req, res) => {
    // A failure while metrics are printed must not end the process.
    answer(req, res).catch((thrown: unknown) => sendProblem(req, res, errorFromUnknown(thrown)));
  });
  server.maxConnections = connectionsMax;
  server.listen(port, host);
  await once(server, "listening");
  // Without a listener, a connection that arrives when no file descriptor is left would end the process. Later connections are
  // accepted again.
  server.on("error", () => {});
  const { port: opened } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${opened}/metrics`,
    serveProbes(handler) {
      probes = handler;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
