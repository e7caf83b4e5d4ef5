import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Chess } from "chessops/chess";
import { makeFen } from "chessops/fen";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";

/** Thrown if a request is rejected as `overloaded`. This error does not fail the run. */
export class Refused extends Error {}

/** `run` throws Error if the response is wrong. */
export interface Kind {
  readonly name: string;
  readonly weight: number;
  run(): Promise<void>;
}

/** Each request has a random client address. */
export function mixOf(url: string): readonly Kind[] {
  const grpc = createClient(AnalysisService, createGrpcTransport({ baseUrl: url }));
  const post = (path: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(url + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...newAddress(), ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...(signal && { signal }),
    });
  const expecting =
    (statuses: readonly number[], ask: () => Promise<Response>) => async (): Promise<void> => {
      const response = await ask();
      const text = await response.text();
      if (response.status === 503) {
        throw new Refused();
      }
      if (!statuses.includes(response.status)) {
        throw new Error(`${response.status}: ${text.slice(0, 300)}`);
      }
    };
  const ok = (path: string, body: () => unknown, headers?: Record<string, string>) =>
    expecting([200], () => post(path, body(), headers));
  const get = (path: string) => expecting([200], () => fetch(url + path, { headers: newAddress() }));

  return [
    { name: "evaluate", weight: 30, run: ok("/v1/eval", () => ({ fen: newFen(), depth: 8 })) },
    { name: "best move", weight: 10, run: ok("/v1/bestmove", () => ({ fen: newFen(), movetime_ms: 50 })) },
    { name: "known position", weight: 20, run: ok("/v1/eval", () => ({ fen: startFen, depth: 8 })) },
    { name: "three lines", weight: 5, run: ok("/v1/eval", () => ({ fen: newFen(), depth: 6, multipv: 3 })) },
    {
      name: "weak",
      weight: 5,
      run: ok("/v1/bestmove", () => ({ fen: newFen(), depth: 5, options: { skill_level: 3 } })),
    },
    { name: "events", weight: 5, run: ok("/v1/eval/stream", () => ({ fen: newFen(), depth: 8 })) },
    {
      name: "batch",
      weight: 2,
      run: ok(
        "/v1/eval/batch",
        () => ({ requests: Array.from({ length: 5 }, () => ({ fen: newFen(), depth: 5 })) }),
        { Accept: "application/x-ndjson" },
      ),
    },
    {
      name: "gRPC",
      weight: 10,
      run: () => askGrpc(grpc),
    },
    { name: "gRPC, left", weight: 3, run: () => leaveStream(grpc) },
    {
      name: "left",
      weight: 3,
      run: () => leave((signal) => post("/v1/eval", { fen: newFen(), depth: 20 }, {}, signal)),
    },
    { name: "no position", weight: 4, run: expecting([400], () => post("/v1/eval", { fen: "nonsense" })) },
    { name: "no JSON", weight: 2, run: expecting([400], () => post("/v1/eval", '{"fen":')) },
    {
      name: "too deep",
      weight: 2,
      run: expecting([402], () => post("/v1/eval", { fen: startFen, depth: 30 })),
    },
    {
      name: "bad key",
      weight: 2,
      run: expecting([401], () => post("/v1/eval", { fen: startFen }, { Authorization: "Bearer kbz_no" })),
    },
    { name: "new key", weight: 1, run: expecting([200, 429], () => post("/v1/keys", {})) },
    { name: "price", weight: 3, run: get("/price?depth=20") },
    { name: "engines", weight: 2, run: get("/engines") },
    { name: "nothing there", weight: 1, run: expecting([404], () => fetch(`${url}/nothing`)) },
  ];
}

const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** Disconnects after 50 ms. Also succeeds if the response arrives earlier. */
async function leave(ask: (signal: AbortSignal) => Promise<Response>): Promise<void> {
  const leaving = new AbortController();
  const timer = setTimeout(() => leaving.abort(), 50);
  try {
    await (await ask(leaving.signal)).text();
  } catch (error) {
    if (!leaving.signal.aborted) {
      throw error;
    }
  } finally {
    clearTimeout(timer);
  }
}

async function askGrpc(grpc: Client<typeof AnalysisService>): Promise<void> {
  try {
    await grpc.findBestMove({ fen: newFen(), depth: 6 }, { headers: newAddress() });
  } catch (error) {
    throw ConnectError.from(error).code === Code.Unavailable ? new Refused() : error;
  }
}

async function leaveStream(grpc: Client<typeof AnalysisService>): Promise<void> {
  const leaving = new AbortController();
  try {
    const request = { fen: newFen(), depth: 20 };
    for await (const { event } of grpc.streamEvaluate(request, {
      headers: newAddress(),
      signal: leaving.signal,
    })) {
      if (event.case === "evaluation" && (event.value.search?.depth ?? 0) >= 4) {
        leaving.abort();
      }
    }
  } catch (error) {
    if (ConnectError.from(error).code === Code.Unavailable) {
      throw new Refused();
    }
    if (!leaving.signal.aborted) {
      throw error;
    }
  }
}

/** Returns a header with one of 262,144 addresses, so that no client reaches a limit. */
function newAddress(): Record<string, string> {
  const part = () => Math.floor(Math.random() * 256);
  return { "X-Forwarded-For": `10.${part() % 4}.${part()}.${part()}` };
}

let game = Chess.default();

export function newFen(): string {
  if (game.isEnd() || game.fullmoves > 80) {
    game = Chess.default();
  }
  const moves = [...game.allDests()].flatMap(([from, dests]) => [...dests].map((to) => ({ from, to })));
  const move = moves[Math.floor(Math.random() * moves.length)];
  if (move === undefined) {
    game = Chess.default();
    return startFen;
  }
  const rank = move.to >> 3;
  const promotes = game.board.getRole(move.from) === "pawn" && (rank === 0 || rank === 7);
  game.play(promotes ? { ...move, promotion: "queen" } : move);
  return game.isEnd() ? newFen() : makeFen(game.toSetup());
}

export function pick(mix: readonly Kind[]): Kind {
  const total = mix.reduce((sum, { weight }) => sum + weight, 0);
  let left = Math.random() * total;
  for (const kind of mix) {
    left -= kind.weight;
    if (left < 0) {
      return kind;
    }
  }
  return mix[0] as Kind;
}
