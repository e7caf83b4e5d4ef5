import type { ConnectError } from "@connectrpc/connect";
import { headerGrpcMessage, headerGrpcStatus, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { grpcMessage } from "../../../text/plain-text.ts";

/** The end of an answer that is whole. */
export const okTrailers: Readonly<Record<string, string>> = { [headerGrpcStatus]: "0" };

/** The status, the message and the details of an error, with repair `fixGrpcMessageEncoding`. */
export function trailersFromError(error: ConnectError): Readonly<Record<string, string>> {
  const trailers = setTrailerStatus(new Headers(), error);
  trailers.set(headerGrpcMessage, grpcMessage(error.rawMessage));
  return Object.fromEntries(trailers);
}
