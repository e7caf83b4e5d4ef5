import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { headerGrpcDetails, setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import {
  BadRequest_FieldViolationSchema,
  BadRequestSchema,
  ErrorInfoSchema,
  QuotaFailureSchema,
  RetryInfoSchema,
  type BadRequest_FieldViolation as Violation,
} from "../../../gen/google/rpc/error_details_pb.ts";
import { detailFromProblem, problemMessage } from "../../calls/convert-problem.ts";
import type { KibitzError } from "../../errors/errors.ts";
import { fieldPathOf } from "../../text/json-pointer.ts";
import { grpcMessage } from "./grpc-message.ts";

interface ErrorContent {
  readonly message: string;
  readonly details: Detail[];
}

type Detail = Extract<ConnectError["details"][number], { readonly desc: DescMessage }>;

/** grpcio and grpc-java do not show an error with more than 8 KiB of headers. 2 KiB are reserved for headers of proxies. */
const encodedMaxBytes = 6 * 1024;

/** The maximum length of `grpc-message` in bytes. The details repeat this message up to three times. */
const messageMaxBytes = 1024;

/** Omits details if the headers are too long: first suggestions, then the errors in the Problem, then violations. */
export function contentOfError(error: KibitzError, requestId: string): ErrorContent {
  const violations = error.violations.map(({ pointer, code, message: description }) =>
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
  const short = { ...rest, nextAction, errors: rest.errors.map(({ allowed: _, ...violation }) => violation) };
  for (const problem of [whole, short]) {
    const content = contentOf(error, problem, violations);
    if (fits(content)) {
      return content;
    }
  }
  for (let kept = violations.length; ; kept--) {
    const missing = violations.length - kept;
    const note =
      missing === 0 ? "" : ` ${missing} ${missing === 1 ? "fault" : "faults"} had no room in this error.`;
    const shortest = { ...short, errors: [], detail: detail + note };
    const content = contentOf(error, shortest, violations.slice(0, kept));
    if (kept === 0 || fits(content)) {
      return content;
    }
  }
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
  details.push(detailFromProblem(problem));
  return { message, details };
}

function detailOf<D extends DescMessage>(desc: D, init: MessageInitShape<D>): Detail {
  return { desc, value: create(desc, init) };
}

function fits({ message, details }: ErrorContent): boolean {
  const trailer = setTrailerStatus(
    new Headers(),
    new ConnectError(message, Code.Unknown, undefined, details),
  );
  const statusLength = trailer.get(headerGrpcDetails)?.length ?? 0;
  return grpcMessage(message).length + statusLength <= encodedMaxBytes;
}

function shortened(message: string): string {
  const characters = [...message];
  while (grpcMessage(characters.join("")).length > messageMaxBytes) {
    characters.length = Math.floor(characters.length * 0.9);
  }
  const short = characters.join("");
  return short === message ? message : `${short}…`;
}
