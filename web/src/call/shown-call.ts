import { type DescMessage, type JsonObject, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { createPlainWriter, createRequestWriter } from "../../../src/calls/plain/write-message.ts";
import { kindOfRoute, routesFromServices } from "../../../src/protocols/json/routes.ts";
import type { Exchange } from "../client/exchange.ts";

export interface ShownCall {
  /** The address of the POST request in the JSON API. */
  readonly url: string;
  readonly body: JsonObject;
  /** True if the response is a stream of server-sent events. */
  readonly events: boolean;
  readonly withKey: boolean;
  /** The host and port of the service for gRPC, such as `localhost:8080`. */
  readonly host: string;
  readonly tls: boolean;
  /** The path prefix of the service, such as `/kibitz`, or an empty text. gRPC has no path prefix. */
  readonly prefix: string;
  /** Such as `chess.analysis.v1.AnalysisService/Evaluate`. */
  readonly procedure: string;
  /** The request in the JSON format of gRPC tools. */
  readonly message: JsonValue;
}

/** Returns undefined if the call has no POST route in plain JSON. `baseUrl` must not end with a slash. */
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

/** For an event of a stream, omits the fields of all other events. */
export function shownMessage(desc: DescMessage, message: Message): JsonObject {
  const plain = createPlainWriter(desc)(message);
  return desc.oneofs.length === 0
    ? plain
    : Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== null));
}
