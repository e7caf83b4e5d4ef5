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
import type { NodeRequest, RequestHandler } from "../../http/message.ts";
import { sendProblem } from "../../http/send-problem.ts";
import { ClientDisconnected, contextOf, mediaTypeOf, outcomeOf } from "../../request/context.ts";
import { echo } from "../../text/echo.ts";
import { sleep } from "../../time/time.ts";
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
/** A body that arrives later is not awaited, because its call would take the place of another probe. */
const bodyMaxMs = 1000;

/**
 * Answers the health call `Check` of gRPC with two constants, because Connect takes several times as long. Refuses other
 * protocols, compressed messages and late bodies. Returns false for other paths.
 */
export function createConstantCheck({ path, names, ready }: ConstantCheckOptions): RequestHandler {
  const answerOf = (status: Status) =>
    encodeEnvelope(0, toBinary(HealthCheckResponseSchema, create(HealthCheckResponseSchema, { status })));
  const serving = answerOf(Status.SERVING);
  const notServing = answerOf(Status.NOT_SERVING);

  return async (req, response) => {
    if (contextOf(req).path !== path) {
      return false;
    }
    outcomeOf(req).hasLine = true;
    const service = isPlainGrpc(req) ? await serviceAsked(req) : overRate();
    if (service instanceof KibitzError || !names.has(service)) {
      const error =
        service instanceof KibitzError
          ? service
          : new KibitzError("not_found", `There is no service ${echo(service, '"')} here.`);
      if (!refuseCall(req, response, error)) {
        sendProblem(req, response, error);
      }
      return true;
    }
    // The type of HTTP/2 responses lacks the overload for trailers that HTTP/1.1 responses have.
    const res = response as unknown as ServerResponse & { setTrailer(name: string, value: string): void };
    res.setHeader("Content-Type", req.headers["content-type"] ?? "");
    res.setTrailer("grpc-status", "0");
    res.end(ready() ? serving : notServing);
    return true;
  };

  async function serviceAsked(req: NodeRequest): Promise<string | KibitzError> {
    const waiting = new AbortController();
    try {
      const body = await Promise.race([
        readBytes(req, bodyMaxBytes, () => {}),
        sleep(bodyMaxMs, { signal: waiting.signal }).then(overRate),
      ]);
      if (body instanceof KibitzError) {
        return body;
      }
      return body ? fromBinary(HealthCheckRequestSchema, body.subarray(headBytes)).service : noCheckRequest();
    } catch (error) {
      if (error instanceof ClientDisconnected || error instanceof KibitzError) {
        throw error;
      }
      return noCheckRequest();
    } finally {
      waiting.abort();
    }
  }
}

function isPlainGrpc(req: NodeRequest): boolean {
  const { "grpc-encoding": encoding = "identity" } = req.headers;
  const isGrpc = "stream" in req && grpcTypes.includes(mediaTypeOf(req.headers));
  return isGrpc && req.method === "POST" && encoding === "identity";
}

function noCheckRequest(): KibitzError {
  return new KibitzError("invalid_type", "The call is not a HealthCheckRequest.");
}

function overRate(): KibitzError {
  return new KibitzError(
    "rate_limited",
    "Your address has sent too many health checks. Retry later, or send uncompressed gRPC.",
    { retryAfterMs: 10_000 },
  );
}
