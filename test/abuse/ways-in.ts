import { once } from "node:events";
import { connect } from "node:http2";
import { buffer } from "node:stream/consumers";
import type { DescMethod } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import { type Codec, encodeCall, isRaw, type Message, type RpcProtocol } from "../support/encode-call.ts";
import { ask } from "./ask.ts";

export interface Sent {
  readonly call: "evaluate" | "evaluateBatch" | "reviewGame";
  readonly message: Message;
}

export interface WayIn {
  readonly name: string;
  readonly calls: readonly Sent["call"][];
  /**
   * Sends the request `count` times at the same time.
   * @returns the text of each response, including the headers and trailers
   */
  send(url: string, sent: Sent, count: number, sender: Sender): Promise<readonly string[]>;
}

export interface Sender {
  readonly localAddress: string;
  /** When the signal is aborted, the sender disconnects and `send` rejects. */
  readonly signal?: AbortSignal;
}

const allCalls: readonly Sent["call"][] = ["evaluate", "evaluateBatch", "reviewGame"];
const withoutBatch: readonly Sent["call"][] = ["evaluate", "reviewGame"];

const methods = {
  evaluate: AnalysisService.method.evaluate,
  evaluateBatch: AnalysisService.method.evaluateBatch,
  reviewGame: GameService.method.reviewGame,
} satisfies Record<Sent["call"], DescMethod>;
const plainPaths = { evaluate: "/v1/eval", evaluateBatch: "/v1/eval/batch", reviewGame: "/v1/review" };

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}

function jsonOf({ message }: Sent): Buffer {
  return isRaw(message) ? Buffer.from(message) : Buffer.from(JSON.stringify(message));
}

function posted(
  name: string,
  calls: WayIn["calls"],
  requestOf: (sent: Sent) => {
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Buffer;
  },
): WayIn {
  return {
    name,
    calls,
    async send(url, sent, count, sender) {
      const { path, headers, body } = requestOf(sent);
      const one = () => ask(url + path, { method: "POST", headers, body, ...sender });
      const answers = await Promise.all(times(count, one));
      return answers.map(({ status, headers, body }) => `${status} ${JSON.stringify(headers)} ${body}`);
    },
  };
}

function plain(name: string, calls: WayIn["calls"], accept: string): WayIn {
  const headers = { "content-type": "application/json", accept };
  return posted(name, calls, (sent) => ({ path: plainPaths[sent.call], headers, body: jsonOf(sent) }));
}

function overHttp1(name: string, protocol: RpcProtocol, codec: Codec): WayIn {
  return posted(name, allCalls, ({ call, message }) => {
    const { path, contentType, body } = encodeCall(protocol, codec, methods[call], message);
    return { path, headers: { "content-type": contentType }, body };
  });
}

function grpc(name: string, codec: Codec): WayIn {
  return {
    name,
    calls: allCalls,
    async send(url, { call, message }, count, { localAddress, signal }) {
      const { path, contentType, body } = encodeCall("grpc", codec, methods[call], message);
      const session = connect(url, { localAddress } as object);
      const fields = { ":method": "POST", ":path": path, "content-type": contentType };
      try {
        return await Promise.all(
          times(count, async () => {
            const stream = session.request({ ...fields, te: "trailers" }, signal && { signal });
            const received: object[] = [];
            const keep = (more: object) => void received.push(more);
            stream.on("response", keep).on("trailers", keep).end(body);
            const answer = await buffer(stream);
            return `${JSON.stringify(received)} ${answer.toString("latin1")}`;
          }),
        );
      } finally {
        session.close();
        await once(session, "close");
      }
    },
  };
}

const toolNames = { evaluate: "analyze_position", reviewGame: "review_game" } as const;

export function toolCallOf({ call, message }: Sent, id: number): string {
  if (isRaw(message) || call === "evaluateBatch") {
    return String(message);
  }
  const params = { name: toolNames[call], arguments: message };
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
}

/** Every protocol with each of its encodings. MCP is included, but has no tool for batches. */
export const waysIn: readonly WayIn[] = [
  plain("plain JSON", allCalls, "application/json"),
  plain("plain JSON as lines", ["evaluateBatch", "reviewGame"], "application/x-ndjson"),
  plain("server-sent events", withoutBatch, "text/event-stream"),
  overHttp1("Connect JSON", "connect", "json"),
  overHttp1("Connect binary", "connect", "proto"),
  grpc("gRPC", "proto"),
  grpc("gRPC with JSON", "json"),
  overHttp1("gRPC-Web", "grpc-web", "proto"),
  overHttp1("gRPC-Web with JSON", "grpc-web", "json"),
  posted("MCP over HTTP", withoutBatch, (sent) => ({
    path: "/mcp",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: Buffer.from(toolCallOf(sent, 1)),
  })),
];

/** Returns the error code of a response, or `ok` if the request succeeded. */
export function codeOf(answer: string): string {
  const [, details] = /grpc-status-details-bin"?: ?"?([\w+/=]+)/.exec(answer) ?? [];
  const text = details === undefined ? answer : Buffer.from(details, "base64").toString("latin1");
  const [, reason] =
    /"reason":"([A-Z_]+)","domain":"kibitz"/.exec(text) ??
    // The binary format of google.rpc.ErrorInfo: the domain `kibitz` follows the reason.
    /([A-Z_]+)[^A-Z]{2}kibitz/.exec(text) ??
    /"kibitz\/error":\{"code":"([a-z_]+)"/.exec(text) ??
    /"error":\{"code":(-\d+)/.exec(text) ??
    /"status":[45]\d\d,"code":"([a-z_]+)"/.exec(text) ??
    [];
  return reason?.toLowerCase() ?? "ok";
}
