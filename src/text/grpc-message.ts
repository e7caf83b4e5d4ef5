/**
 * A text as the header `grpc-message` carries it: only `%` and what is not printable ASCII is escaped.
 *
 * Connect escapes as for a URI component (connect 2.2.0), and clients that read with decodeURI, such as grpc-js, then
 * show `%3A` for a colon.
 */
export function grpcMessage(text: string): string {
  return text.toWellFormed().replace(/[^ -$&-~]+/gu, encodeURIComponent);
}
