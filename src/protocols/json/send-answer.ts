import type { ServerResponse } from "node:http";
import type { Call } from "../../calls/call.ts";
import { errorFromUnknown } from "../../errors/errors.ts";
import { problemFromError } from "../../errors/problem.ts";
import { isGone, type NodeResponse, writePart } from "../../http/message.ts";
import type { RequestOutcome } from "../../request/context.ts";

export interface AnswerForm {
  /** The value of the Content-Type header. */
  readonly contentType: string;
  /** Text that is sent between two parts if nothing else was sent for a while. Readers skip this text. */
  readonly heartbeat: string;
  /**
   * True if status and headers wait for the complete answer, or the first heartbeat: until then, an error has its own status, and
   * the RateLimit fields are exact.
   */
  readonly headWaits: boolean;
}

interface AnswerTimes {
  readonly heartbeatMs: number;
  /** Start of the first period without a byte, as `performance.now()`. */
  readonly startedAt: number;
}

/**
 * Sends an answer with heartbeats. Stops if the client disconnects. Throws the error of `parts`: if the status has been sent, the
 * response must be aborted, so that no client takes the error in its body for the answer.
 */
export async function sendAnswer(
  response: NodeResponse,
  parts: AsyncIterable<string>,
  form: AnswerForm,
  { request, outcome }: Pick<Call, "request" | "outcome">,
  { heartbeatMs, startedAt }: AnswerTimes,
): Promise<void> {
  // Both kinds of responses have the same methods, but their overloads disagree.
  const res = response as ServerResponse;
  /** The text that waits until the status and headers are sent; undefined after that. */
  let held: string | undefined = "";
  /** Resolves when all text that was written until now has been sent. Resolves with false if the client has disconnected. */
  let sent = Promise.resolve(true);
  let timer: NodeJS.Timeout | undefined;

  const beatIn = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => void (held === undefined ? send(form.heartbeat) : begin()), ms);
  };
  /** Sends texts one after the other, because a heartbeat within a part would break it. */
  const send = async (text: string) => {
    clearTimeout(timer);
    const own = sent.then((isRead) => isRead && writePart(res, text));
    sent = own;
    const isRead = await own;
    if (isRead && sent === own && !res.writableEnded) {
      beatIn(heartbeatMs);
    }
    return isRead;
  };
  const sendHeadOf = (headers: readonly string[]) => {
    held = undefined;
    const kept = outcome.answerHeaders.has("cache-control") ? [] : ["Cache-Control", "no-store"];
    sendHead(res, 200, ["Content-Type", form.contentType, ...headers, ...kept], outcome);
  };
  const begin = () => {
    const first = held || form.heartbeat;
    // Without this header, nginx keeps the parts until its buffer is full.
    sendHeadOf(["X-Accel-Buffering", "no"]);
    return send(first);
  };

  const take = async (part: string) => {
    if (held === undefined) {
      return send(part);
    }
    held += part;
    return form.headWaits ? !isGone(res) : begin();
  };
  const end = () => {
    if (held === undefined) {
      res.end();
    } else {
      clearTimeout(timer);
      const body = Buffer.from(held);
      sendHeadOf(["Content-Length", String(body.length)]);
      res.end(body);
    }
  };

  beatIn(Math.max(0, startedAt + heartbeatMs - performance.now()));
  try {
    for await (const part of parts) {
      if (!(await take(part))) {
        return;
      }
    }
    if (!isGone(res)) {
      end();
    }
  } catch (thrown) {
    if (held === undefined && !isGone(res)) {
      const problem = JSON.stringify(problemFromError(errorFromUnknown(thrown), request.id));
      await new Promise((resolve) => res.write(`${problem}\n`, resolve));
    }
    throw thrown;
  } finally {
    clearTimeout(timer);
  }
}

export function sendEmpty(
  response: NodeResponse,
  status: number,
  headers: readonly string[],
  outcome: RequestOutcome,
): void {
  const res = response as ServerResponse;
  sendHead(res, status, headers, outcome);
  res.end();
}

function sendHead(
  res: ServerResponse,
  status: number,
  headers: readonly string[],
  { answerHeaders }: RequestOutcome,
): void {
  res.writeHead(status, [...headers, ...[...answerHeaders].flat()]);
}
