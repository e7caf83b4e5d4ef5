import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { AnySchema, anyPack } from "@bufbuild/protobuf/wkt";
import type { ConnectError } from "@connectrpc/connect";
import {
  BadRequest_FieldViolationSchema,
  BadRequestSchema,
  ErrorInfoSchema,
  QuotaFailureSchema,
  RetryInfoSchema,
  type BadRequest_FieldViolation as Violation,
} from "../../../gen/google/rpc/error_details_pb.ts";
import { problemDesc, problemMessage } from "../../calls/convert-problem.ts";
import type { KibitzError } from "../../errors/errors.ts";
import { fieldPathOf } from "../../text/json-pointer.ts";
import { grpcMessage } from "../../text/plain-text.ts";

/** The message and the typed details of an RPC error. */
interface ErrorContent {
  readonly message: string;
  readonly details: Detail[];
}

type Detail = Extract<ConnectError["details"][number], { readonly desc: DescMessage }>;

/**
 * The maximum length of `grpc-message` and `grpc-status-details-bin` together. grpcio and grpc-java take 8192 bytes of
 * metadata by default and report RESOURCE_EXHAUSTED for more, whatever the error was. Proxies add headers of their own.
 */
const encodedMaxBytes = 6 * 1024;

/** The maximum length of `grpc-message` alone, because the details repeat the message up to three times. */
const messageMaxBytes = 1024;

/** Reserved for the sentence about violations that do not fit, which stands in up to three places. */
const reservedBytes = 256;

/**
 * The content of an error, or its most important parts if all of it would be too long. The suggested request and the
 * allowed values are left out first, then the errors of the Problem, which BadRequest repeats, then violations.
 */
export function contentOfError(error: KibitzError, requestId: string): ErrorContent {
  const violations = error.faults.map(({ pointer, code, message: description }) =>
    create(BadRequest_FieldViolationSchema, {
      field: fieldPathOf(pointer),
      reason: code.toUpperCase(),
      description,
    }),
  );
  const detail = shortened(error.message);
  const whole = { ...problemMessage(error, requestId), detail };
  const { suggestedRequest: _, ...rest } = whole;
  const nextAction = whole.nextAction === "send_suggested_request" ? "fix_request" : whole.nextAction;
  const short = { ...rest, nextAction, errors: rest.errors.map(({ allowed: _, ...fault }) => fault) };
  for (const problem of [whole, short]) {
    const content = contentOf(error, problem, violations);
    if (freeBytesIn(content) >= 0) {
      return content;
    }
  }
  const shortest = { ...short, errors: [] };
  let free = freeBytesIn(contentOf(error, shortest, [])) - reservedBytes;
  const kept: Violation[] = [];
  for (const violation of violations) {
    free -= toBinary(BadRequest_FieldViolationSchema, violation).length + prefixBytes;
    if (free < 0) {
      break;
    }
    kept.push(violation);
  }
  const count = violations.length - kept.length;
  const note = count === 0 ? "" : ` ${count} ${count === 1 ? "fault" : "faults"} had no room in this error.`;
  return contentOf(error, { ...shortest, detail: detail + note }, kept);
}

function contentOf(
  { code, quota, retryAfterMs }: KibitzError,
  problem: ReturnType<typeof problemMessage>,
  fieldViolations: Violation[],
): ErrorContent {
  const { detail: message, nextAction: next_action, requestId: request_id } = problem;
  const metadata = { code, next_action, request_id };
  const details = [detailOf(ErrorInfoSchema, { reason: code.toUpperCase(), domain: "kibitz", metadata })];
  if (quota !== undefined) {
    details.push(detailOf(QuotaFailureSchema, { violations: [{ subject: quota, description: message }] }));
  }
  if (retryAfterMs !== undefined) {
    const seconds = BigInt(Math.floor(retryAfterMs / 1000));
    const nanos = Math.round((retryAfterMs % 1000) * 1e6);
    details.push(detailOf(RetryInfoSchema, { retryDelay: { seconds, nanos } }));
  }
  if (fieldViolations.length > 0) {
    details.push(detailOf(BadRequestSchema, { fieldViolations }));
  }
  details.push(detailOf(problemDesc, problem));
  return { message, details };
}

function detailOf<D extends DescMessage>(desc: D, init: MessageInitShape<D>): Detail {
  return { desc, value: create(desc, init) };
}

/** Tag and length before a part of a message. */
const prefixBytes = 4;

/** How many further bytes of details the headers of gRPC could carry. Negative if the content is too long. */
function freeBytesIn({ message, details }: ErrorContent): number {
  const statusBytes = details
    .map(({ desc, value }) => toBinary(AnySchema, anyPack(desc, create(desc, value))).length + prefixBytes)
    .reduce((sum, bytes) => sum + bytes, Buffer.byteLength(message) + 2 * prefixBytes);
  // google.rpc.Status is sent as base64.
  return Math.floor(((encodedMaxBytes - grpcMessage(message).length) * 3) / 4) - statusBytes;
}

/** The message, or its beginning if it is too long for a header. */
function shortened(message: string): string {
  const characters = [...message];
  while (grpcMessage(characters.join("")).length > messageMaxBytes) {
    characters.length = Math.floor(characters.length * 0.9);
  }
  const short = characters.join("");
  return short === message ? message : `${short}…`;
}
