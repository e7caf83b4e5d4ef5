import { contextOf } from "../../request/context.ts";
import type { RequestHandler } from "../message.ts";
import { shownBase } from "../shown-base.ts";
import { answerGet, type Page } from "./page.ts";

/** Serves a text at `GET /`. `besidesPage` is true if browsers get an HTML page at the same path. */
export function createWelcome(besidesPage = false): RequestHandler {
  return (req, res) => {
    if (contextOf(req).path !== "/") {
      return false;
    }
    answerGet(req, res, { ...welcome(req.headers.host), ...(besidesPage && { vary: "Accept" }) });
    return true;
  };
}

export function welcome(host: string | undefined): Page {
  const base = shownBase(host);
  const body = `Kibitz analyses chess positions. Try:

  curl ${base}/v1/eval \\
    -H 'Content-Type: application/json' \\
    -d '{"fen": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "depth": 14}'

POST /v1/eval         score, best move and principal variations
POST /v1/eval/stream  an evaluation after every depth (server-sent events)
POST /v1/eval/batch   many positions at once
POST /v1/bestmove     best move
POST /v1/review       a whole game, explained
GET  /v1/tablebase    the certain result of a position with few men, from endgame tables
GET  /engines         engine versions and their options
GET  /price           plans and their limits
POST /v1/keys         an API key, where this service issues them
POST /mcp             tools for language models (Model Context Protocol), explained in GET /llms.txt
GET  /problems        every error code, explained
GET  /docs            API reference with forms to try each call, from GET /openapi.json

The same port speaks gRPC, gRPC-Web and Connect: chess.analysis.v1.AnalysisService, GameService.
`;
  // The text shows the host that the client has named. A cache must not show this host to other clients.
  return {
    contentType: "text/plain; charset=utf-8",
    body: Buffer.from(body),
    headers: { "Cache-Control": "no-store" },
  };
}
