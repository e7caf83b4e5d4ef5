import type { DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromString } from "@connectrpc/connect/protocol-connect";
import { batchMethods } from "../../calls/policy.ts";
import { type ErrorCode, errorKind } from "../../errors/catalog.ts";
import { errorFromUnknown, errorFromViolations, KibitzError, type Violation } from "../../errors/errors.ts";
import { headersFromError } from "../../errors/problem.ts";
import { ClientDisconnected } from "../../request/context.ts";
import { withoutControls } from "../../text/controls.ts";
import { echo } from "../../text/echo.ts";
import { pointerStep } from "../../text/json-pointer.ts";
import { contentOfError } from "./error-details.ts";

/** Converts an error for Connect and gRPC, and adds typed details such as ErrorInfo. */
export function connectErrorFrom(thrown: unknown, requestId: string): ConnectError {
  if (thrown instanceof ConnectError) {
    return thrown;
  }
  if (thrown instanceof ClientDisconnected) {
    return new ConnectError(thrown.message, Code.Canceled, undefined, undefined, thrown);
  }
  const error = errorFromUnknown(thrown);
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

/** Converts an error of Connect by its text, because many errors have the same code. `input` is the type of the message. */
export function errorFromConnect(error: ConnectError, input: DescMessage): KibitzError {
  const { rawMessage: text, code, cause } = error;
  if (cause instanceof KibitzError) {
    return cause;
  }
  for (const { pattern, explain } of explained) {
    const match = pattern.exec(text);
    if (match) {
      const [, first = "", second = ""] = match;
      return explain(first, second, input);
    }
  }
  const known = codesByText.find(([pattern]) => pattern.test(text));
  if (known) {
    // Shorten headers and names, which Connect repeats in full length.
    const cut = text.replace(/\S{65,}/g, (word) => `${word.slice(0, 63)}…`);
    return new KibitzError(known[1], `The call cannot be read: ${shortened(cut, 160)}.`);
  }
  // `toWellFormed` is necessary, because Connect throws an error if a header of gRPC contains half a surrogate pair.
  return new KibitzError(codes.get(code) ?? "internal", withoutControls(text.toWellFormed()));
}

interface Explained {
  readonly pattern: RegExp;
  explain(first: string, second: string, input: DescMessage): KibitzError;
}

const explained: readonly Explained[] = [
  {
    pattern: /^cannot decode message (\S+) from JSON: key "(.*)" is unknown$/s,
    explain(type, key, input) {
      const message = `There is no field ${echo(key, "`")} in ${shortName(type)}.`;
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
    pattern: /^message .*is larger than configured readMaxBytes (\d+)/,
    explain(bytes, _, input) {
      const isBatch = batchMethods.some((method) => method.input === input);
      const advice = isBatch
        ? " Split the batch, or send it as plain JSON to POST /v1/eval/batch, which takes 1 MiB."
        : "";
      const detail = `The message is larger than ${bytes} bytes, the maximum for this call.${advice}`;
      return new KibitzError("body_too_large", detail);
    },
  },
];

/** Errors with these texts are caused by the client, even if Connect gives them the code `internal` or `unimplemented`. */
const codesByText: readonly (readonly [pattern: RegExp, code: ErrorCode])[] = [
  [/^cannot decode .* from JSON/s, "malformed_json"],
  [/^parse binary: /, "invalid_type"],
  [/^unknown compression /, "unsupported_media_type"],
  [/^(protocol error|decompression failed|received compressed envelope)/, "malformed_http"],
];

const codes: ReadonlyMap<Code, ErrorCode> = new Map([
  [Code.InvalidArgument, "malformed_http"],
  [Code.DeadlineExceeded, "deadline_exceeded"],
  [Code.NotFound, "not_found"],
  [Code.ResourceExhausted, "body_too_large"],
  [Code.Unimplemented, "unimplemented"],
  [Code.Unavailable, "overloaded"],
]);

/** `field` is undefined if the field may belong to a nested message, because Connect does not report the path. */
function refused(code: ErrorCode, message: string, field: string | undefined): KibitzError {
  if (field === undefined) {
    return new KibitzError(code, message);
  }
  const violation: Violation = { pointer: pointerStep(field), code, message };
  return errorFromViolations([violation]);
}

function shortName(type: string): string {
  return type.slice(type.lastIndexOf(".") + 1);
}

/** Shortens an error message of protobuf-es or Node, because such a message can contain the complete input. */
function shortened(text: string, maxCharacters = 64): string {
  const short = text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1)}…` : text;
  return withoutControls(short.replace(/\.$/, "").toWellFormed());
}
