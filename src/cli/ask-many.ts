import { setTimeout as sleep } from "node:timers/promises";
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
import { durationText } from "../text/plain-text.ts";
import type { Output } from "./host.ts";

interface AskManyOptions {
  readonly signal: AbortSignal;
  /** Called before each wait. */
  onWait(wait: Wait): void;
}

/** Shortest wait, in milliseconds, whatever the service says. */
const waitMinMs = 1000;

/**
 * Evaluates any number of requests in batches, and yields the answers as they are ready, each with its index in `requests`. If the service
 * refuses for now (429), the rest is sent after the time that the service names.
 *
 * @throws KibitzError for a refusal of all requests; the reason of `signal`
 */
export async function* askMany(
  requests: readonly AnalysisRequest[],
  { evaluateBatch }: Pick<Client<typeof AnalysisService>, "evaluateBatch">,
  { signal, onWait }: AskManyOptions,
): AsyncGenerator<EvaluateBatchResponse> {
  /** Number of requests that were sent at least once. */
  let sent = 0;
  /** Requests to be sent again: at most one batch. */
  let again: (readonly [place: number, request: AnalysisRequest])[] = [];
  let size = batchItemsMax;
  for (;;) {
    const batch = again.splice(0, size);
    const first = sent;
    const fresh = requests.slice(first, first + size - batch.length);
    batch.push(...fresh.map((request, index) => [first + index, request] as const));
    sent += fresh.length;
    if (batch.length === 0) {
      return;
    }
    const answered = new Set<number>();
    let wait: Wait | undefined;
    let smaller: number | undefined;
    try {
      const message = { requests: batch.map(([, request]) => request) };
      for await (const { index, outcome } of evaluateBatch(message, { signal })) {
        const later = outcome.case === "problem" ? waitOf(outcome.value) : undefined;
        const place = batch[index]?.[0];
        if (later) {
          wait = longer(wait, later);
        } else if (place !== undefined) {
          answered.add(place);
          yield create(EvaluateBatchResponseSchema, { index: place, outcome });
        }
      }
    } catch (thrown) {
      const error = thrown instanceof KibitzError ? thrown : undefined;
      wait = error && waitOf(error);
      smaller = error && smallerBatch(error, batch.length);
      if (wait === undefined && smaller === undefined) {
        throw thrown;
      }
      size = smaller ?? size;
    }
    if (answered.size === 0 && wait === undefined && smaller === undefined) {
      throw new Error("the batch ended without its answers");
    }
    again = [...batch.filter(([place]) => !answered.has(place)), ...again];
    if (wait) {
      onWait(wait);
      await sleep(wait.ms, undefined, { signal });
    }
  }
}

/** The wait that a service asks for. */
export interface Wait {
  readonly ms: number;
  /** `rate_limited` */
  readonly code: string;
}

export function printWait({ ms, code }: Wait, stderr: Output): void {
  stderr.write(`kibitz: ${code.replaceAll("_", " ")}, retrying in ${durationText(ms / 1000)}\n`);
}

function longer(one: Wait | undefined, other: Wait): Wait {
  return one && one.ms > other.ms ? one : other;
}

/** The wait of a refusal that only means "too early". */
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

/** The size of batches that the plan allows, if a batch was refused for its size. */
function smallerBatch({ faults }: KibitzError, sent: number): number | undefined {
  const fault = faults.find(({ pointer, code }) => pointer === "/requests" && code === "over_plan_limit");
  if (fault === undefined || sent === 1) {
    return undefined;
  }
  const allowed = fault.allowed?.maxItems;
  // Long errors leave out what is allowed. Then halve the batch.
  return Math.max(1, typeof allowed === "number" && allowed < sent ? allowed : Math.floor(sent / 2));
}
