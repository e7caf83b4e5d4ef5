/** What an RPC error says, and what of it is left out so that clients take it. */

import {
  create,
  type DescMessage,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import {
  BadRequest_FieldViolationSchema,
  BadRequestSchema,
  ErrorInfoSchema,
  QuotaFailureSchema,
  RetryInfoSchema,
} from "../../../gen/google/rpc/error_details_pb.ts";
import { problemDesc, problemMessage } from "../../calls/convert-problem.ts";
import type { NextAction } from "../../errors/catalogue.ts";
import type { Fault, KibitzError } from "../../errors/errors.ts";
import { fieldPathOf } from "../../text/json-pointer.ts";
import { grpcMessage } from "../../text/plain-text.ts";

/** What an RPC error says. */
export interface ErrorContent {
  readonly message: string;
  readonly details: Detail[];
}

type Detail = Extract<ConnectError["details"][number], { readonly desc: DescMessage }>;
type Violation = MessageShape<typeof BadRequest_FieldViolationSchema>;

/**
 * How long `grpc-message` and `grpc-status-details-bin` may be together. grpcio and grpc-java take 8192 bytes of
 * metadata by default and report RESOURCE_EXHAUSTED for more, whatever the error was; proxies add some of their own.
 */
const encodedMaxBytes = 6 * 1024;

/** How long `grpc-message` alone may be: the message stands in the details again, up to three times. */
const messageMaxBytes = 1024;

/** For the sentence that says what was left out, and for google.rpc.Status around the details. */
const reservedBytes = 128;

/** The message and the typed details of an error, most important first, and of these as much as there is room for. */
export function contentOfError(error: KibitzError, requestId: string): ErrorContent {
  const message = shortened(error.message);
  const info = infoOf(error, error.nextAction, requestId);
  const waiting = [...waitingOf(error, message)];
  const encodedBytes = encodedMaxBytes - grpcMessage(message).length;
  const room =
    decodedBytes(encodedBytes) - reservedBytes - Buffer.byteLength(message) - bytesOf(info, ...waiting);
  const { kept, leftOut } = violationsOf(error.faults, room);
  const faults = kept.length > 0 ? [detailOf(BadRequestSchema, { fieldViolations: kept })] : [];
  const told = leftOut > 0 ? `${message} ${noteOf(leftOut)}` : message;
  const problem = problemsOf(error, told, requestId).find(
    (one) => bytesOf(detailOf(problemDesc, one)) <= room - bytesOf(...faults),
  );
  return {
    message: told,
    details: [
      problem?.suggestedRequest ? info : infoOf(error, actionWithoutSuggestion(error), requestId),
      ...waiting,
      ...faults,
      ...(problem ? [detailOf(problemDesc, problem)] : []),
    ],
  };
}

function infoOf({ code }: KibitzError, nextAction: NextAction, requestId: string): Detail {
  return detailOf(ErrorInfoSchema, {
    reason: code.toUpperCase(),
    domain: "kibitz",
    metadata: { code, next_action: nextAction, request_id: requestId },
  });
}

/** Where there was no room for a request to send, the one that was sent is to be mended. */
function actionWithoutSuggestion({ nextAction }: KibitzError): NextAction {
  return nextAction === "send_suggested_request" ? "fix_request" : nextAction;
}

/**
 * The problem document: whole, or without the faults, which BadRequest has, too. That has no places in texts, and a text up
 * to its fault is long: rather than the place, the document leaves out what is allowed instead, and the request to send.
 */
function problemsOf(error: KibitzError, detail: string, requestId: string) {
  const whole = { ...problemMessage(error, requestId), detail };
  const withPlaces = {
    ...whole,
    errors: whole.errors.map(({ allowed: _, ...fault }) => fault),
  };
  const { suggestedRequest: _, ...alone } = withPlaces;
  const isInText = error.faults.some(({ place }) => place !== undefined && "offset" in place);
  return [
    whole,
    ...(isInText ? [withPlaces, { ...alone, nextAction: actionWithoutSuggestion(error) }] : []),
    { ...whole, errors: [] },
  ];
}

/** What is used up, and when there is more. */
function* waitingOf({ quota, retryAfterMs }: KibitzError, description: string): Generator<Detail> {
  if (quota !== undefined) {
    yield detailOf(QuotaFailureSchema, { violations: [{ subject: quota, description }] });
  }
  if (retryAfterMs !== undefined) {
    const seconds = BigInt(Math.floor(retryAfterMs / 1000));
    const nanos = Math.round((retryAfterMs % 1000) * 1e6);
    yield detailOf(RetryInfoSchema, { retryDelay: { seconds, nanos } });
  }
}

/** The first faults, as many as there is room for. */
function violationsOf(faults: readonly Fault[], room: number) {
  const kept: Violation[] = [];
  let left = room - anyBytesOf(BadRequestSchema);
  for (const { pointer, code, message: description } of faults) {
    const init = { field: fieldPathOf(pointer), reason: code.toUpperCase(), description };
    const violation = create(BadRequest_FieldViolationSchema, init);
    left -= toBinary(BadRequest_FieldViolationSchema, violation).length + prefixMaxBytes;
    if (left < 0) {
      break;
    }
    kept.push(violation);
  }
  return { kept, leftOut: faults.length - kept.length };
}

function noteOf(leftOut: number): string {
  return `${leftOut} ${leftOut === 1 ? "fault" : "faults"} had no room in this error.`;
}

const ellipsisBytes = grpcMessage("…").length;

/** Whole where it is short enough to be a header, else its beginning. */
function shortened(message: string): string {
  if (grpcMessage(message).length <= messageMaxBytes) {
    return message;
  }
  let short = "";
  let bytes = ellipsisBytes;
  for (const character of message) {
    bytes += grpcMessage(character).length;
    if (bytes > messageMaxBytes) {
      break;
    }
    short += character;
  }
  return `${short}…`;
}

function detailOf<D extends DescMessage>(desc: D, init: MessageInitShape<D>): Detail {
  return { desc, value: create(desc, init) };
}

/** What details take in google.rpc.Status, at most. */
function bytesOf(...details: readonly Detail[]): number {
  return details
    .map(({ desc, value }) => toBinary(desc, create(desc, value)).length + anyBytesOf(desc))
    .reduce((sum, bytes) => sum + bytes, 0);
}

/** The tag and the length before a part of a message. */
const prefixMaxBytes = 4;

/** What google.protobuf.Any adds to a message. */
function anyBytesOf({ typeName }: DescMessage): number {
  return "type.googleapis.com/".length + typeName.length + 3 * prefixMaxBytes;
}

/** How many bytes a text of base64 holds. */
function decodedBytes(encodedBytes: number): number {
  return Math.floor((encodedBytes * 3) / 4);
}
