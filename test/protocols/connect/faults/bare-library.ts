import { once } from "node:events";
import { createServer as createHttp1, type RequestListener } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { type ConnectRouterOptions, createConnectRouter, type ServiceImpl } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { onTestFinished } from "vitest";
import { AnalysisService } from "../../../../gen/chess/analysis/v1/analysis_service_pb.ts";

/** Connect as it is installed, without any workaround of ours. */

/** Faults of a library, each with a function that shows it in the bare library, and fails if the library is fixed. */
export type Faults = Readonly<Record<string, () => void | Promise<void>>>;

export const service = `/${AnalysisService.typeName}`;

/** A server of Node for HTTP/1.1 or HTTP/2 until the test is over, and where it listens. */
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

/** A request for Connect's own handler of a method. */
export interface BareCall {
  readonly method?: string;
  /** With its question mark. */
  readonly query?: string;
  readonly header?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Asks Connect's own handler of a method, over no network. */
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

/** A message of a stream: its flags and its length before it. */
export function envelope(text: string, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(Buffer.byteLength(text), 1);
  return Buffer.concat([head, Buffer.from(text)]);
}
