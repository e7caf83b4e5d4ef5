/** Errors on their way out, ours as Connect's, and on their way in: what one that Connect made itself means to us. */

import type { DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
import { type ErrorCode, errorKind } from "../../errors/catalogue.ts";
import { errorFromFaults, errorFromUnknown, type Fault, KibitzError } from "../../errors/errors.ts";
import { headersFromError } from "../../errors/problem.ts";
import { CallerLeft } from "../../request/context.ts";
import { pointerStep } from "../../text/json-pointer.ts";
import { echo, withoutControls } from "../../text/plain-text.ts";
import { contentOfError } from "./error-details.ts";

/**
 * An error for Connect, gRPC and gRPC-Web, with the same content as the problem document in typed details: ErrorInfo
 * always, QuotaFailure for limits, RetryInfo where waiting helps, BadRequest for faults, and the Problem itself. What
 * would make it longer than clients take is left out: first the Problem's faults, then the Problem, then faults, and
 * then the message says so.
 */
export function connectErrorFrom(thrown: unknown, requestId: string): ConnectError {
  if (thrown instanceof ConnectError && thrown.code !== Code.DeadlineExceeded) {
    return thrown;
  }
  if (thrown instanceof CallerLeft) {
    return new ConnectError(thrown.message, Code.Canceled, undefined, undefined, thrown);
  }
  const error = errorFromThrown(thrown);
  const code = codeFromString(errorKind(error.code).rpc) ?? Code.Internal;
  const { message, details } = contentOfError(error, requestId);
  return new ConnectError(
    message,
    code,
    new Headers(headersFromError(error).map(([name, value]): [string, string] => [name, value])),
    details,
    thrown,
  );
}

function errorFromThrown(thrown: unknown): KibitzError {
  return thrown instanceof ConnectError ? deadlineExceeded(thrown) : errorFromUnknown(thrown);
}

/** Connect watches the deadline of a call. */
export function deadlineExceeded(cause: ConnectError): KibitzError {
  return new KibitzError("deadline_exceeded", "The deadline of the call passed before the search ended.", {
    cause,
  });
}

/**
 * What an error of Connect's own means in our catalogue; one that was made of ours means that. Connect tells most of
 * them apart by nothing but their text (repair `tellErrorsByText`), as protobuf-es does in them (repair
 * `readDecodingErrors`), so where that is not known the code decides.
 *
 * @param input the type of the message that could not be read, if that is why
 */
export function errorFromConnect(error: ConnectError, input: DescMessage): KibitzError {
  const { rawMessage: text, code, cause } = error;
  if (cause instanceof KibitzError) {
    return cause;
  }
  const known = knownRefusals.find(({ pattern }) => pattern.test(text));
  if (known) {
    const [, first = "", second = ""] = known.pattern.exec(text) ?? [];
    return known.explain(first, second, input);
  }
  // Repair `keepErrorsWellFormed`.
  return new KibitzError(codes.get(code) ?? "internal", withoutControls(text.toWellFormed()));
}

interface KnownRefusal {
  readonly pattern: RegExp;
  explain(first: string, second: string, input: DescMessage): KibitzError;
}

const knownRefusals: readonly KnownRefusal[] = [
  {
    pattern: /^cannot decode message (\S+) from JSON: key "(.*)" is unknown$/s,
    explain(type, key, input) {
      const message = `There is no field \`${echo(key)}\` in ${shortName(type)}.`;
      return refused("unknown_field", message, type === input.typeName ? key : undefined);
    },
  },
  {
    pattern: /^cannot decode field (\S+) from JSON: (.*)$/s,
    explain(path, reason, input) {
      const dot = path.lastIndexOf(".");
      const [type, name] = [path.slice(0, dot), path.slice(dot + 1)];
      const message = `\`${name}\` cannot be read: ${shortened(reason)}.`;
      return refused("invalid_type", message, type === input.typeName ? name : undefined);
    },
  },
  {
    pattern: /^cannot decode enum (\S+) from JSON: (.*)$/s,
    explain(type, given, { fields }) {
      const holders = fields.filter((field) => field.enum?.typeName === type);
      const [field] = holders;
      if (field?.enum === undefined || holders.length > 1) {
        return refused("out_of_range", `There is no ${shortName(type)} ${shortened(given)}.`, undefined);
      }
      const names = field.enum.values.map(({ name }) => name).join(", ");
      const message = `\`${field.name}\` must be one of ${names}, not ${shortened(given)}.`;
      return refused("out_of_range", message, field.name);
    },
  },
  {
    pattern: /^cannot decode \S+ (\S+) from JSON:? (.*)$/s,
    explain: (type, reason) =>
      new KibitzError("malformed_json", `The JSON is not a valid ${shortName(type)}: ${shortened(reason)}.`),
  },
  {
    pattern: /^parse binary: (.*)$/s,
    explain: (reason, _, { name }) =>
      new KibitzError("invalid_type", `The bytes are not a valid ${name}: ${shortened(reason)}.`),
  },
  {
    pattern: /^message .*is larger than configured readMaxBytes (\d+)/,
    explain: (bytes) =>
      new KibitzError(
        "body_too_large",
        `The message is larger than ${bytes} bytes, the maximum for this call.`,
      ),
  },
  {
    pattern: /^unknown compression "(.*)": supported encodings are (.*)$/s,
    explain: (name, accepted) =>
      new KibitzError(
        "unsupported_media_type",
        `The encoding "${echo(name)}" is not one of ${accepted.replaceAll(",", ", ")}. Use one of these, or send the message uncompressed.`,
      ),
  },
  {
    pattern: /^decompression failed/,
    explain: () => new KibitzError("malformed_http", "The message is not encoded as its header says."),
  },
  {
    pattern: /^received compressed envelope, but do not know how to decompress/,
    explain: () =>
      new KibitzError(
        "malformed_http",
        "The message is marked as compressed, but no header names the encoding.",
      ),
  },
  {
    pattern: /^protocol error: (.*)$/s,
    explain: (reason) => new KibitzError("malformed_http", `The call cannot be read: ${shortened(reason)}.`),
  },
];

/** Where the text says nothing. */
const codes: ReadonlyMap<Code, ErrorCode> = new Map([
  [Code.InvalidArgument, "malformed_http"],
  [Code.DeadlineExceeded, "deadline_exceeded"],
  [Code.NotFound, "not_found"],
  [Code.ResourceExhausted, "body_too_large"],
  [Code.Unimplemented, "unimplemented"],
  [Code.Unavailable, "overloaded"],
]);

/** With the place of the fault where that is certain: the text names a field, but not where its message stands. */
function refused(code: ErrorCode, message: string, field: string | undefined): KibitzError {
  if (field === undefined) {
    return new KibitzError(code, message);
  }
  const fault: Fault = { pointer: pointerStep(field), code, message };
  return errorFromFaults([fault]);
}

function shortName(type: string): string {
  return type.slice(type.lastIndexOf(".") + 1);
}

/** As long as an echo may be. */
const reasonMaxCharacters = 64;

/** A reason of protobuf-es or V8, which may repeat all that was sent. */
function shortened(reason: string): string {
  const short = reason.length > reasonMaxCharacters ? `${reason.slice(0, reasonMaxCharacters - 1)}…` : reason;
  return withoutControls(short.replace(/\.$/, "").toWellFormed());
}
