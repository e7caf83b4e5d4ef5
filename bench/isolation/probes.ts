import { readFileSync } from "node:fs";
import { toJsonString } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Path } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { AnalysisService, EvaluateResponseSchema } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { EngineChoice } from "../engine-choices.ts";

/** A call whose answer the depth alone defines. */
export interface Probe {
  readonly door: Door;
  readonly fen: string;
  readonly depth: number;
  readonly multipv: number;
}

const doors = ["eval", "bestmove", "eval/stream", "gRPC"] as const;
type Door = (typeof doors)[number];

/** Asks one server from one address. Resolves with the answer as text, without what no two searches have in common. */
export type AskProbe = (probe: Probe) => Promise<string>;

const corpus = readFileSync(new URL("../../test/corpus/fens.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line): { class: string; verdict: string; fen: string } => JSON.parse(line));

/** Positions of the classes in the corpus. */
export function positionsOf(isWanted: (line: { class: string; verdict: string }) => boolean) {
  return corpus.filter(isWanted).map(({ fen }) => fen);
}

const probed = new Set(["tactic", "castle_legal", "chess960_shredder", "ep_legal", "max_moves"]);

/** The doors take turns, and with them one line and three: 30 calls in all. */
export const probes: readonly Probe[] = positionsOf((line) => probed.has(line.class)).map((fen, at) => ({
  door: doors[at % doors.length] ?? "eval",
  fen,
  depth: 7 + (at % 2),
  multipv: at % 3 === 0 ? 3 : 1,
}));

export function createAskProbe(url: string, choice: EngineChoice, address: string): AskProbe {
  const grpc = createClient(AnalysisService, createGrpcTransport({ baseUrl: url }));
  const headers = { "X-Forwarded-For": address };

  async function askGrpc({ fen, depth, multipv }: Probe): Promise<string> {
    const path = choice.path === "native" ? Path.NATIVE : Path.WASM;
    const request = { fen, depth, multipv, engine: choice.engine, path };
    const answer = await grpc.evaluate(request, { headers });
    answer.id = "";
    if (answer.search) {
      Object.assign(answer.search, { nps: 0n, timeMs: 0, queueMs: 0 });
    }
    return toJsonString(EvaluateResponseSchema, answer);
  }

  return async (probe) => {
    const { door, fen, depth, multipv } = probe;
    if (door === "gRPC") {
      return askGrpc(probe);
    }
    const response = await fetch(`${url}/v1/${door}`, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify({ fen, depth, multipv, ...choice }),
    });
    const body = await response.text();
    if (response.status !== 200) {
      return `${response.status} ${body}`;
    }
    // States before the last may be skipped.
    const last = door === "eval/stream" ? body.slice(body.lastIndexOf("event: ")) : body;
    return last
      .replace(/"id":"[0-9a-f]{8}-[0-9a-f-]{27}"/, '"id":""')
      .replaceAll(/"(nps|time_ms|queue_ms)":\d+/g, '"$1":0');
  };
}
