import type { AnalysisRequest } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  AnalysisService,
  type StreamEvaluateResponse,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { judgeRequest } from "../../analysis/judge-request.ts";
import { localCall } from "../../calls/call.ts";
import { requestFromMessage } from "../../calls/convert.ts";
import type { Local } from "../open-local.ts";
import type { Analyst, Question } from "./analyst.ts";
import { watchByStream } from "./analyst-of-stream.ts";

const method = AnalysisService.method.streamEvaluate;

/**
 * Kibitz in this process, which may still be opening.
 *
 * @param template of every request: which engine is asked. Where that is not there, nothing can ever be answered.
 */
export function createLocalAnalyst(opening: Promise<Local>, template: AnalysisRequest): Analyst {
  const watch = watchByStream(async function* (request, signal) {
    const { calls } = await opening;
    for await (const message of calls.stream(method)(request, localCall(method, signal))) {
      yield message as StreamEvaluateResponse;
    }
  }, template);
  return {
    async introduce() {
      const { engines } = await opening;
      const { name, author, options } = (await judgeRequest(requestFromMessage(template), engines)).build;
      await Array.fromAsync(watch(firstQuestion, new AbortController().signal));
      return { name, author, options };
    },
    watch,
  };
}

/** Whatever is asked first takes some 100 ms longer, because code is read and compiled for it: more than many a move has. */
const firstQuestion: Question = {
  fen: "startpos",
  moves: [],
  depth: 1,
  multipv: 1,
  searchMoves: [],
  options: {},
};
