import { create } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type { AnalysisRequest } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  type AnalysisService,
  type EvaluateBatchResponse,
  EvaluateBatchResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { batchItemsMax } from "../analysis/analysis.ts";
import { KibitzError } from "../errors/errors.ts";
import { durationText } from "../text/duration-text.ts";
import { sleep } from "../time/time.ts";
import type { Output } from "./host.ts";

interface AskManyOptions {
  readonly signal: AbortSignal;
  onWait(wait: Wait): void;
}

const waitMinMs = 1000;

/**
 * Sends requests in batches, and yields each answer when it arrives, with the index of its request.
 * Retries a request that is rejected with the status 429. Throws KibitzError if the service rejects a batch for another reason.
 */
export async function* askMany(
  requests: Iterable<AnalysisRequest>,
  { evaluateBatch }: Pick<Client<typeof AnalysisService>, "evaluateBatch">,
  { signal, onWait }: AskManyOptions,
): AsyncGenerator<EvaluateBatchResponse> {
  const unread = Iterator.from(requests).map((request, index) => ({ index, request }));
  let open: { readonly index: number; readonly request: AnalysisRequest }[] = [];
  let size = batchItemsMax;
  for (;;) {
    while (open.length < size) {
      const { value, done } = unread.next();
      if (done) {
        break;
      }
      open.push(value);
    }
    if (open.length === 0) {
      return;
    }
    const asked = open.slice(0, size);
    const answered = new Set<number>();
    let wait: Wait | undefined;
    try {
      const batch = { requests: asked.map(({ request }) => request) };
      for await (const { index: at, outcome } of evaluateBatch(batch, { signal })) {
        const later = outcome.case === "problem" ? waitOf(outcome.value) : undefined;
        const index = asked[at]?.index;
        if (later) {
          wait = wait && wait.ms > later.ms ? wait : later;
        } else if (index !== undefined) {
          answered.add(index);
          yield create(EvaluateBatchResponseSchema, { index, outcome });
        }
      }
      if (answered.size === 0 && wait === undefined) {
        throw new Error("the batch ended without its answers");
      }
    } catch (thrown) {
      if (!(thrown instanceof KibitzError)) {
        throw thrown;
      }
      wait = waitOf(thrown);
      if (wait === undefined && !(isTooLarge(thrown) && asked.length > 1)) {
        throw thrown;
      }
      size = wait ? size : Math.ceil(asked.length / 2);
    }
    open = open.filter(({ index }) => !answered.has(index));
    if (wait) {
      onWait(wait);
      await sleep(wait.ms, { signal });
    }
  }
}

export interface Wait {
  readonly ms: number;
  readonly code: string;
}

export function printWait({ ms, code }: Wait, stderr: Output): void {
  stderr.write(`kibitz: ${code.replaceAll("_", " ")}, retrying in ${durationText(ms / 1000)}\n`);
}

/** Returns the wait before a retry. Returns undefined if no limit of the plan caused the error. */
export function waitOf({
  code,
  retryAfterMs,
}: {
  code: string;
  retryAfterMs?: number | undefined;
}): Wait | undefined {
  const isEarly = /^(rate_limited|quota_exhausted|concurrency_limited)$/.test(code);
  return isEarly && retryAfterMs !== undefined ? { ms: Math.max(retryAfterMs, waitMinMs), code } : undefined;
}

function isTooLarge({ violations }: KibitzError): boolean {
  return violations.some(({ pointer, code }) => pointer === "/requests" && code === "over_plan_limit");
}
