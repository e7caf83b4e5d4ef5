import { createClient } from "@connectrpc/connect";
import type { AnalysisRequest, EngineRef } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  AnalysisService,
  type StreamEvaluateResponse,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { KibitzError } from "../../errors/errors.ts";
import { echo } from "../../text/plain-text.ts";
import type { AskedService } from "../asked-service.ts";
import { type EngineOption, engineOptionsOf } from "../engine-option.ts";

/** The service that searches for a session, by the same calls as every client's. No line of an engine is read here. */
export interface SearchService {
  /** Describes the engine. Rejects only if no search can ever be answered. */
  introduce(): Promise<Introduction>;
  /**
   * Searches, and reports complete iterations as the search deepens. The last one has a stop reason.
   *
   * @throws KibitzError for a refusal; another Error if the service was not reached
   */
  watch(request: SearchRequest, signal: AbortSignal): AsyncIterable<StreamEvaluateResponse>;
}

export interface Introduction {
  /** Of the engine: `Stockfish 19 WASM`. */
  readonly name: string;
  readonly author: string;
  readonly options: readonly EngineOption[];
  /** Why the engine is not known yet; undefined if it is. */
  readonly complaint?: string;
}

/** The limits of a search, at least one. */
export type SearchLimits = Pick<AnalysisRequest, "depth" | "nodes" | "movetimeMs">;

export type SearchRequest = SearchLimits &
  Pick<AnalysisRequest, "fen" | "moves" | "multipv" | "searchMoves" | "options">;

/** Longest wait for the engines of a running service, in milliseconds: some chess programs give up after ten seconds. */
const introductionMaxMs = 7000;

/** @param template engine and path of every request. If the service lacks them, or wants another key, no search is ever answered. */
export function createSearchService(
  { transport, host }: Pick<AskedService, "transport" | "host">,
  template: AnalysisRequest,
): SearchService {
  const { listEngines, streamEvaluate } = createClient(AnalysisService, transport);
  const watch: SearchService["watch"] = (request, signal) =>
    streamEvaluate({ ...template, ...request }, { signal });

  async function introduceOwn(): Promise<Introduction> {
    const used = await searchFirst(watch);
    const { engines } = await listEngines({});
    const engine = engines.find(({ id }) => id === used.id);
    return { name: used.name, author: engine?.author ?? "", options: engine ? engineOptionsOf(engine) : [] };
  }

  async function introduceRemote(host: string): Promise<Introduction> {
    try {
      const { engines, latest } = await listEngines({}, { signal: AbortSignal.timeout(introductionMaxMs) });
      const { engine: asked = "latest" } = template;
      const engine = engines.find(({ id }) => id === (asked === "latest" ? latest : asked));
      if (engine === undefined) {
        const message = `${host} has no engine "${echo(asked)}": its engines are ${engines.map(({ id }) => id).join(", ")}.`;
        throw new KibitzError("unknown_engine", message);
      }
      return {
        name: `${engine.name} at ${host}`,
        author: engine.author,
        options: engineOptionsOf(engine),
      };
    } catch (error) {
      if (error instanceof KibitzError && !error.retryable) {
        throw error;
      }
      const why = error instanceof Error ? error.message : String(error);
      const complaint = `${why}. What its engine can be told is not known before the next start; the rest works as soon as ${host} answers`;
      return { name: host, author: "whoever made its engine", options: [], complaint };
    }
  }

  return { introduce: () => (host === undefined ? introduceOwn() : introduceRemote(host)), watch };
}

/** The first search compiles code and so takes some 100 ms longer: more than many moves of a fast game have. */
async function searchFirst(watch: SearchService["watch"]): Promise<EngineRef> {
  const request = { fen: "startpos", moves: [], depth: 1, multipv: 1, searchMoves: [], options: {} };
  let engine: EngineRef | undefined;
  for await (const { event } of watch(request, new AbortController().signal)) {
    engine = event.case === "evaluation" ? event.value.engine : engine;
  }
  if (engine === undefined) {
    throw new Error("the first search ended without an answer");
  }
  return engine;
}
