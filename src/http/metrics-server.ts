import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { errorFromUnknown, KibitzError } from "../errors/errors.ts";
import { identifyRequest } from "../request/context.ts";
import { type Owner, ownEvents, runAs } from "../request/owner.ts";
import { type NodeRequest, type NodeResponse, preferredType, type RequestHandler } from "./message.ts";
import { answerGet } from "./pages/page.ts";
import { sendProblem } from "./send-problem.ts";

export interface MetricsServer extends AsyncDisposable {
  readonly url: string;
  serveProbes(probes: RequestHandler): void;
}

interface PrintedMetrics {
  print(format: "text" | "openmetrics"): Promise<string>;
}

/** The format for metrics with exemplars. */
const openMetrics = "application/openmetrics-text";

const contentTypes = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: `${openMetrics}; version=1.0.0; charset=utf-8`,
};

/** Returns the preferred format. Ignores the parameters `version` and `escaping`, which Prometheus sends. */
function formatFor(accept: string | undefined): keyof typeof contentTypes {
  const types = accept?.replace(/;\s*(?:version|escaping)=[^;,]*/g, "");
  return preferredType(types, ["text/plain", openMetrics]) === openMetrics ? "openmetrics" : "text";
}

/** The maximum number of connections. Scrapers and probes need only a few, because they send a request every few seconds. */
const connectionsMax = 64;
const requestMaxMs = 10_000;

/** Closes the oldest connection without a complete request if there are too many, so that half requests block no probe. */
function displaceIdle(server: Server): void {
  const idle = new Set<Socket>();
  let count = 0;
  server.on("connection", (socket: Socket) => {
    count++;
    idle.add(socket);
    socket.once("close", () => {
      count--;
      idle.delete(socket);
    });
    const [oldest = socket] = idle;
    if (count > connectionsMax) {
      oldest.destroy();
    }
  });
  server.on("request", ({ socket }, res) => {
    idle.delete(socket);
    res.once("close", () => socket.destroyed || idle.add(socket));
  });
}

/** Serves metrics and probes on a separate port, which works even if clients use all connections of the main port. */
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
      body: Buffer.from(body),
      headers: { "Cache-Control": "no-store" },
    });
  }

  const timeouts = { requestTimeout: requestMaxMs, headersTimeout: requestMaxMs };
  const server = createServer(timeouts, (req, res) => {
    const owner: Owner = { fields: {}, end: () => req.socket.destroy() };
    ownEvents(req, owner);
    ownEvents(res, owner);
    runAs(owner, () => {
      answer(req, res)
        .catch((thrown: unknown) => sendProblem(req, res, errorFromUnknown(thrown)))
        .catch(owner.end);
    });
  });
  displaceIdle(server);
  server.listen(port, host);
  await once(server, "listening");
  // Without a listener for errors, a connection that arrives when all file descriptors are in use would end the process.
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
