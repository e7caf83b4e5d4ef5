/** Escapes the header `grpc-message`. Connect's own function also escapes `:`, and throws at half of a surrogate pair. */
export function grpcMessage(text: string): string {
  return text.toWellFormed().replace(/[^ -$&-~]+/gu, encodeURIComponent);
}
