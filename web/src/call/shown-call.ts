import { type DescMessage, type JsonObject, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { createPlainWriter, createRequestWriter } from "../../../src/calls/plain/write-message.ts";
import { kindOfRoute, routesFromServices } from "../../../src/protocols/json/routes.ts";
import type { Exchange } from "../client/exchange.ts";

/** A call as others can make it: as plain JSON, and by gRPC. */
export interface ShownCall {
  /** The address that plain JSON is posted to. */
  readonly url: string;
  readonly body: JsonObject;
  /** True if the answer comes in server-sent events. */
  readonly events: boolean;
  /** True if the call was sent with a key. The key itself is not shown. */
  readonly withKey: boolean;
  /** The service's host and port, for gRPC: `localhost:8080`. */
  readonly host: string;
  readonly tls: boolean;
  /** The path behind which the service is, `/kibitz`; empty if there is none. gRPC has no such thing. */
  readonly prefix: string;
  /** `chess.analysis.v1.AnalysisService/Evaluate` */
  readonly procedure: string;
  /** The request in the JSON that gRPC's tools read. */
  readonly message: JsonValue;
}

/**
 * @param baseUrl where the service is, without a slash at its end.
 * @returns undefined for a call that plain JSON does not post.
 */
export function shownCall(
  { method, request, withKey }: Pick<Exchange, "method" | "request" | "withKey">,
  baseUrl: string,
): ShownCall | undefined {
  const route = routesFromServices([method.parent]).find((one) => one.method === method && one.body);
  if (route === undefined) {
    return undefined;
  }
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const tls = protocol === "https:";
  return {
    url: baseUrl + route.path,
    body: createRequestWriter(method.input)(request),
    events: ["stream", "answer_at_end"].includes(kindOfRoute(route)),
    withKey,
    host: `${hostname}:${port || (tls ? 443 : 80)}`,
    tls,
    prefix: pathname === "/" ? "" : pathname,
    procedure: `${method.parent.typeName}/${method.name}`,
    message: toJson(method.input, request, { useProtoFieldName: true }),
  };
}

/** A message of an answer, as plain JSON shows it. Of a stream, only the event that has come is shown. */
export function shownMessage(desc: DescMessage, message: Message): JsonObject {
  const plain = createPlainWriter(desc)(message);
  return desc.oneofs.length === 0
    ? plain
    : Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== null));
}
