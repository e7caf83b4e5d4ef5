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

/** The service evaluates a checkmate without an engine. */
export const matedFen = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
