/**
 * A text as the header `grpc-message` carries it: only `%` and what is not printable ASCII is escaped.
 *
 * Connect escapes as for a URI component (connect 2.2.0), and clients that read with decodeURI, such as grpc-js, then
 * show `%3A` for a colon.
 */
export function grpcMessage(text: string): string {
  return text.toWellFormed().replace(/[^ -$&-~]+/gu, encodeURIComponent);
}

/** Sees to it that the message which Connect is going to write into the trailer is written as gRPC's specification says. */
export function mendGrpcMessage(trailer: Headers): void {
  const set = trailer.set.bind(trailer);
  Object.defineProperty(trailer, "set", {
    value: (name: string, value: string) =>
      set(name, name.toLowerCase() === "grpc-message" ? grpcMessage(decodeURIComponent(value)) : value),
  });
}
