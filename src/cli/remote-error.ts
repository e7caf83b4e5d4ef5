import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { FaultSchema, type Problem, ProblemSchema } from "../../gen/chess/analysis/v1/problem_pb.ts";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { type ErrorCode, errorCodes, errorKind, type NextAction } from "../errors/catalogue.ts";
import { type Fault, KibitzError } from "../errors/errors.ts";
import { problemTypeOf } from "../errors/problem.ts";
import { withoutControls } from "../text/plain-text.ts";

/** What a running service answered in the stead of what was asked. */
export class RemoteError extends KibitzError {
  /** As the service wrote it. Its codes may be of a newer version than ours. */
  readonly problem: Problem;

  /** @param url of the service, for what the document names by its path */
  constructor(problem: Problem, url: string, cause?: unknown) {
    const code = knownCodeOf(problem);
    super(code, withoutControls(problem.detail), {
      faults: problem.errors.map((fault) => faultOf(fault, code)),
      nextAction: nextActions.find((action) => action === problem.nextAction) ?? errorKind(code).nextAction,
      ...(problem.retryAfterMs !== undefined && { retryAfterMs: problem.retryAfterMs }),
      ...(problem.suggestedRequest && { suggestedRequest: problem.suggestedRequest }),
      ...(problem.upgrade && { upgrade: { ...problem.upgrade, url: fullUrl(problem.upgrade.url, url) } }),
      cause,
    });
    this.name = "RemoteError";
    this.problem = problem;
  }
}

function fullUrl(path: string, url: string): string {
  return path.startsWith("/") ? `${url}${path}` : path;
}

/** No service has answered: the message says why, and the way out. */
export class UnreachableError extends Error {}

const nextActions: readonly NextAction[] = errorCodes.map((code) => errorKind(code).nextAction);

/** Of a newer service's code, one of ours that has its status. */
export function knownCodeOf({ code, status }: Problem): ErrorCode {
  return (
    errorCodes.find((known) => known === code) ??
    errorCodes.find((known) => errorKind(known).status === status) ??
    "internal"
  );
}

function faultOf({ pointer, code, message, allowed }: Problem["errors"][number], ofError: ErrorCode): Fault {
  const known = code === "over_plan_limit" ? code : errorCodes.find((one) => one === code);
  return {
    pointer,
    code: known ?? ofError,
    message: withoutControls(message),
    ...(allowed && { allowed }),
  };
}

/**
 * What a call to a service has ended with: a {@link RemoteError} where the service says so, an {@link UnreachableError}
 * where it was not reached, broke off, or is none of ours.
 *
 * @param url where it was looked for, for the message
 */
export function errorFromRemote(thrown: unknown, url: string): Error {
  if (thrown instanceof KibitzError || thrown instanceof UnreachableError) {
    return thrown;
  }
  if (!(thrown instanceof ConnectError)) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
  const problem = problemFromConnect(thrown);
  return problem ? new RemoteError(problem, url, thrown) : unreachable(thrown, url);
}

/** Put together where there was no room for it, or for its faults; undefined where it is not Kibitz that says it. */
function problemFromConnect(error: ConnectError): Problem | undefined {
  const info = error.findDetails(ErrorInfoSchema).find(({ domain }) => domain === "kibitz");
  if (info === undefined) {
    return undefined;
  }
  const [problem = problemFromParts(error, info.metadata)] = error.findDetails(ProblemSchema);
  if (problem.errors.length > 0) {
    return problem;
  }
  const violations = error.findDetails(BadRequestSchema).flatMap(({ fieldViolations }) => fieldViolations);
  problem.errors = violations.map(({ field, reason, description }) =>
    create(FaultSchema, {
      pointer: pointerFromFieldPath(field),
      code: reason.toLowerCase(),
      message: description,
    }),
  );
  return problem;
}

function problemFromParts(error: ConnectError, metadata: Readonly<Record<string, string>>): Problem {
  const { code = "internal", next_action: nextAction = "", request_id: requestId = "" } = metadata;
  const rpc = codeToString(error.code);
  const like =
    errorCodes.find((known) => known === code) ?? errorCodes.find((known) => errorKind(known).rpc === rpc);
  const { status, title } = errorKind(like ?? "internal");
  const [retry] = error.findDetails(RetryInfoSchema);
  const delay = retry?.retryDelay;
  return create(ProblemSchema, {
    type: problemTypeOf(code),
    title,
    status,
    code,
    detail: error.rawMessage,
    requestId,
    nextAction,
    retryable: nextAction === "retry_later" || nextAction === "retry_now",
    ...(delay && { retryAfterMs: Number(delay.seconds) * 1000 + Math.ceil(delay.nanos / 1e6) }),
  });
}

/** `/moves/3` for `moves[3]` of google.rpc.BadRequest. */
function pointerFromFieldPath(path: string): string {
  return `/${path.replace(/\[(\d+)\]/g, ".$1").replaceAll(".", "/")}`;
}

/** Why nobody was reached, by the codes of Node and OpenSSL. */
const failures: readonly { readonly codes: RegExp; explain(url: URL, code: string): string }[] = [
  {
    codes: /^ECONNREFUSED$/,
    explain: ({ href }, code) =>
      `nothing is listening at ${href} (${code}): start a service there with kibitz serve, or correct --url`,
  },
  {
    codes: /^(ENOTFOUND|EAI_\w+)$/,
    explain: ({ hostname }, code) =>
      `the name ${hostname} cannot be found (${code}): correct --url, or look at the network of this machine`,
  },
  {
    codes: /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN)$/,
    explain: ({ href }, code) =>
      `${href} cannot be reached (${code}): correct --url, or look at the network and its firewalls`,
  },
  {
    codes: /CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$/,
    explain: ({ host }, code) =>
      `the certificate of ${host} is not trusted (${code}): use the name that it was issued for, or name the file of its authority in NODE_EXTRA_CA_CERTS`,
  },
  {
    codes: /^(EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$/,
    explain: ({ host }, code) =>
      `no TLS connection to ${host} can be made (${code}): if the service has no TLS, write http://${host}`,
  },
  {
    codes: /^HPE_/,
    explain: ({ host }, code) =>
      `what listens at ${host} does not answer in HTTP (${code}): if it expects TLS, write https://${host}`,
  },
  {
    codes: /^(ECONNRESET|ECONNABORTED|EPIPE|ERR_STREAM_\w+)$/,
    explain: ({ href }, code) => `the connection to ${href} broke off (${code}): ask again`,
  },
];

function unreachable(error: ConnectError, address: string): UnreachableError {
  const url = new URL(address);
  for (const code of codesIn(error)) {
    const failure = failures.find(({ codes }) => codes.test(code));
    if (failure) {
      return new UnreachableError(failure.explain(url, code), { cause: error });
    }
  }
  const said = withoutControls(error.rawMessage.slice(0, 200));
  const message =
    // By the status of an answer that is not one of Connect's.
    error.code === Code.Unavailable
      ? `what answers at ${address} in the place of the service says ${said}: ask again later, or ask who runs it`
      : `what answers at ${address} is not Kibitz (${said}): correct --url; if the service is behind a path, the path belongs to it`;
  return new UnreachableError(message, { cause: error });
}

/** Of the errors that it was made of, outermost first. */
function* codesIn(error: unknown): Generator<string> {
  for (let one = error, left = 8; one instanceof Error && left > 0; one = one.cause, left--) {
    if ("code" in one && typeof one.code === "string") {
      yield one.code;
    }
  }
}
