export const jsonCalls = [
  "/v1/eval",
  "/v1/bestmove",
  "/v1/eval/stream",
  "/v1/eval/batch",
  "/v1/review",
  "/v1/keys",
] as const;

export const rpcOf = (method: string, service = "AnalysisService") =>
  `/chess.analysis.v1.${service}/${method}`;

/** Encodes a message for a stream of gRPC or Connect. The flags come first, then the length, and then the bytes. */
export function envelope(bytes: Uint8Array, flags = 0, length = bytes.length): Buffer<ArrayBuffer> {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, bytes]);
}

/** The service evaluates a checkmate without an engine. */
export const matedFen = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
