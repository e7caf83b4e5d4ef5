import { once } from "node:events";
import { createServer as createHttp1, type RequestListener } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { type ConnectRouterOptions, createConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { onTestFinished } from "vitest";
import { AnalysisService } from "../../../../gen/chess/analysis/v1/analysis_service_pb.ts";

/** The key describes a bug of a library. The function throws if the library no longer has the bug. */
export type Faults = Readonly<Record<string, () => void | Promise<void>>>;

export const service = `/${AnalysisService.typeName}`;

/** Starts a Node server for HTTP/1.1 or HTTP/2 until the test ends, and returns its port. */
export async function startServer(version: "1.1" | "2", handle: RequestListener): Promise<number> {
  const http2 = () => createHttp2(handle as unknown as Parameters<typeof createHttp2>[0]);
  const server = version === "2" ? http2() : createHttp1(handle);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    if ("closeAllConnections" in server) {
      server.closeAllConnections();
    }
  });
  return (server.address() as AddressInfo).port;
}

export interface BareCall {
  readonly method?: string;
  readonly query?: string;
  readonly header?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Calls Connect's handler of a method directly, without a network. */
export async function callBare(
  name: "Evaluate" | "StreamEvaluate" | "EvaluateBatch" | "ListEngines",
  { method = "POST", query = "", header = { "content-type": "application/json" }, body = "{}" }: BareCall,
  implementation: Partial<ServiceImpl<typeof AnalysisService>>,
  options?: ConnectRouterOptions,
): Promise<{ readonly status: number; readonly text: string; readonly trailer: Headers | undefined }> {
  const { handlers } = createConnectRouter(options).service(AnalysisService, implementation);
  const handler = handlers.find(({ requestPath }) => requestPath === `${service}/${name}`);
  const reply: UniversalServerResponse | undefined = await handler?.({
    httpVersion: "2.0",
    method,
    url: `http://localhost${service}/${name}${query}`,
    header: new Headers(header),
    body: bytesOf(body),
    signal: new AbortController().signal,
  } as Parameters<typeof handler>[0]);
  const chunks = await Array.fromAsync(reply?.body ?? []);
  return { status: reply?.status ?? 0, text: Buffer.concat(chunks).toString(), trailer: reply?.trailer };
}

async function* bytesOf(body: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(Buffer.from(body));
}
