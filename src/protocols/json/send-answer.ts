import type { ServerResponse } from "node:http";
import type { Call } from "../../calls/call.ts";
import { errorFromUnknown } from "../../errors/errors.ts";
import { problemFromError } from "../../errors/problem.ts";
import { abortResponse, endInParts, isGone, type NodeResponse, writePart } from "../../http/message.ts";
import type { RequestOutcome } from "../../request/context.ts";
import { after, now, type Timer } from "../../time/time.ts";

export interface AnswerForm {
  readonly contentType: string;
  /** Text that is sent if no other text was sent for some time. Clients ignore this text. */
  readonly heartbeat: string;
  /** True if the status waits for the complete answer or the first heartbeat. Until then, an error can change the status. */
  readonly headWaits: boolean;
}

interface AnswerTimes {
  readonly heartbeatMs: number;
  /** The first heartbeat is sent `heartbeatMs` after this time, which is a value of `now()`. */
  readonly startedAt: number;
}

/** Sends an answer with heartbeats. Throws the error of `parts`. The caller must then abort the response if it has begun. */
export async function sendAnswer(
  response: NodeResponse,
  parts: AsyncIterable<string>,
  form: AnswerForm,
  { request, outcome }: Pick<Call, "request" | "outcome">,
  { heartbeatMs, startedAt }: AnswerTimes,
): Promise<void> {
  // HTTP/1.1 and HTTP/2 responses have the same methods, but TypeScript cannot combine their overloads.
  const res = response as ServerResponse;
  /** Text that waits until the status and headers are sent. Undefined afterwards. */
  let pendingText: string | undefined = "";
  /** Resolves when all text that was written so far has been sent. Resolves with false if the client has disconnected. */
  let sent = Promise.resolve(true);
  let timer: Timer | undefined;
  /** The error of a heartbeat that could not be sent. It ends the answer. */
  let beatError: unknown;

  const beat = () => {
    const beating = pendingText === undefined ? send(form.heartbeat) : begin();
    beating.catch((thrown: unknown) => {
      beatError = thrown;
      abortResponse(res);
    });
  };
  const beatIn = (ms: number) => {
    timer?.cancel();
    timer = after(ms, beat);
  };
  /** Sends texts one after the other, because a heartbeat must not be sent in the middle of a part. */
  const send = async (text: string) => {
    timer?.cancel();
    const own = sent.then((isRead) => isRead && writePart(res, text));
    sent = own;
    const isRead = await own;
    if (isRead && sent === own && !res.writableEnded) {
      beatIn(heartbeatMs);
    }
    return isRead;
  };
  const sendHeadOf = (headers: readonly string[]) => {
    pendingText = undefined;
    const kept = outcome.answerHeaders.has("cache-control") ? [] : ["Cache-Control", "no-store"];
    sendHead(res, 200, ["Content-Type", form.contentType, ...headers, ...kept], outcome);
  };
  const begin = async () => {
    const first = pendingText || form.heartbeat;
    // Without this header, nginx would send nothing until its buffer is full.
    sendHeadOf(["X-Accel-Buffering", "no"]);
    return send(first);
  };

  const take = async (part: string) => {
    if (pendingText === undefined) {
      return send(part);
    }
    pendingText += part;
    return form.headWaits ? !isGone(res) : begin();
  };
  const end = () => {
    if (pendingText === undefined) {
      res.end();
    } else {
      timer?.cancel();
      const body = Buffer.from(pendingText);
      sendHeadOf(["Content-Length", String(body.length)]);
      endInParts(res, body);
    }
  };

  beatIn(Math.max(0, startedAt + heartbeatMs - now()));
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
    if (pendingText === undefined && !isGone(res)) {
      const problem = JSON.stringify(problemFromError(errorFromUnknown(thrown), request.id));
      await new Promise((resolve) => res.write(`${problem}\n`, resolve));
    }
    throw beatError ?? thrown;
  } finally {
    timer?.cancel();
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
