import { createClient } from "@connectrpc/connect";
import { type AnalysisRequest, type Engine, Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
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
  /** The name of the engine: `Stockfish 19 WASM`. */
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
  return {
    watch,
    async introduce() {
      try {
        if (host === undefined) {
          await Array.fromAsync(watch(firstRequest, new AbortController().signal));
        }
        const { engines } = await listEngines({}, { signal: AbortSignal.timeout(introductionMaxMs) });
        const engine = chooseEngine(engines, template);
        if (engine === undefined) {
          const ids = engines.map(({ id }) => id).join(", ");
          const message = `${host} has no engine "${echo(template.engine ?? "latest")}": its engines are ${ids}.`;
          throw new KibitzError("unknown_engine", message);
        }
        const { name, author } = engine;
        const options = engineOptionsOf(engine);
        return { name: host === undefined ? name : `${name} at ${host}`, author, options };
      } catch (error) {
        if (host === undefined || (error instanceof KibitzError && !error.retryable)) {
          throw error;
        }
        const why = error instanceof Error ? error.message : String(error);
        const complaint = `${why}. What its engine can be told is not known before the next start; the rest works as soon as ${host} answers`;
        return { name: host, author: "the authors of its engine", options: [], complaint };
      }
    },
  };
}

/** The first search of a process compiles code and takes some 100 ms longer: more than many moves of a fast game have. */
const firstRequest: SearchRequest = {
  fen: "startpos",
  moves: [],
  depth: 1,
  multipv: 1,
  searchMoves: [],
  options: {},
};

/** The engine that a request means: of those with its path, `latest` before the newest. */
function chooseEngine(
  engines: readonly Engine[],
  { engine = "latest", path }: AnalysisRequest,
): Engine | undefined {
  const isAnyPath = path === Path.UNSPECIFIED || path === Path.AUTO;
  const withPath = engines.filter(({ paths }) => isAnyPath || paths.some((one) => one.path === path));
  return engine === "latest"
    ? (withPath.find(({ latest }) => latest) ?? withPath[0])
    : withPath.find(({ id }) => id === engine);
}
