import type { ServerResponse } from "node:http";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import {
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../gen/grpc/health/v1/health_pb.ts";
import { KibitzError } from "../../errors/errors.ts";
import { readBytes } from "../../http/body-budget.ts";
import type { RequestHandler } from "../../http/message.ts";
import { ClientDisconnected, contextOf, mediaTypeOf, outcomeOf } from "../../request/context.ts";
import { echo } from "../../text/plain-text.ts";
import { refuseCall } from "./refuse-call.ts";

interface ConstantCheckOptions {
  readonly path: string;
  /** The services that have the status of the server. */
  readonly names: ReadonlySet<string>;
  ready(): boolean;
}

const grpcTypes = ["application/grpc", "application/grpc+proto"];

/** The message in front of which gRPC writes five bytes. The longest name of a service has 40 bytes. */
const headBytes = 5;
const bodyMaxBytes = 300;

/**
 * Answers the health call `Check` of gRPC with two constants, because Connect takes several times as long. Returns false for
 * other protocols and for compressed messages.
 */
export function createConstantCheck({ path, names, ready }: ConstantCheckOptions): RequestHandler {
  const answerOf = (status: Status) =>
    encodeEnvelope(0, toBinary(HealthCheckResponseSchema, create(HealthCheckResponseSchema, { status })));
  const serving = answerOf(Status.SERVING);
  const notServing = answerOf(Status.NOT_SERVING);

  return async (req, response) => {
    const isGrpc = "stream" in response && grpcTypes.includes(mediaTypeOf(req.headers));
    const { "grpc-encoding": encoding = "identity" } = req.headers;
    if (contextOf(req).path !== path || req.method !== "POST" || !isGrpc || encoding !== "identity") {
      return false;
    }
    outcomeOf(req).hasLine = true;
    const service = await serviceAsked(req);
    if (service === undefined || !names.has(service)) {
      const error =
        service === undefined
          ? new KibitzError("invalid_type", "The call is not a HealthCheckRequest.")
          : new KibitzError("not_found", `There is no service "${echo(service)}" here.`);
      return refuseCall(req, response, error);
    }
    // The type of HTTP/2 responses lacks the overload for trailers that HTTP/1.1 responses have.
    const res = response as unknown as ServerResponse & { setTrailer(name: string, value: string): void };
    res.setHeader("Content-Type", req.headers["content-type"] ?? "");
    res.setTrailer("grpc-status", "0");
    res.end(ready() ? serving : notServing);
    return true;
  };

  async function serviceAsked(req: Parameters<RequestHandler>[0]): Promise<string | undefined> {
    try {
      const body = await readBytes(req, bodyMaxBytes, () => {});
      return body && fromBinary(HealthCheckRequestSchema, body.subarray(headBytes)).service;
    } catch (error) {
      if (error instanceof ClientDisconnected || error instanceof KibitzError) {
        throw error;
      }
      return undefined;
    }
  }
}
