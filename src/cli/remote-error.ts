import { Code, ConnectError } from "@connectrpc/connect";
import { type Problem, ProblemSchema } from "../../gen/chess/analysis/v1/problem_pb.ts";
import { type ErrorCode, errorCodes, errorKind, type NextAction } from "../errors/catalog.ts";
import { KibitzError, type Violation } from "../errors/errors.ts";
import { withoutControls } from "../text/controls.ts";

export class RemoteError extends KibitzError {
  /** A newer service may send an unknown `code`. */
  readonly problem: Problem;

  /** @param url the base for relative URLs in the problem document */
  constructor(problem: Problem, url: string, cause?: unknown) {
    const code = knownCodeOf(problem);
    super(code, withoutControls(problem.detail), {
      violations: problem.errors.map((violation) => violationOf(violation, code)),
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

export class UnreachableError extends Error {}

const nextActions: readonly NextAction[] = errorCodes.map((code) => errorKind(code).nextAction);

/** If a newer service sent an unknown code, returns a known code with the same HTTP status. */
export function knownCodeOf({ code, status }: Problem): ErrorCode {
  return (
    errorCodes.find((known) => known === code) ??
    errorCodes.find((known) => errorKind(known).status === status) ??
    "internal"
  );
}

function violationOf(
  { pointer, code, message, allowed }: Problem["errors"][number],
  ofError: ErrorCode,
): Violation {
  const known = code === "over_plan_limit" ? code : errorCodes.find((one) => one === code);
  return {
    pointer,
    code: known ?? ofError,
    message: withoutControls(message),
    ...(allowed && { allowed }),
  };
}

/** Returns an UnreachableError if no Kibitz service answered or if the connection broke. */
export function errorFromRemote(thrown: unknown, url: string): Error {
  if (thrown instanceof KibitzError || thrown instanceof UnreachableError) {
    return thrown;
  }
  if (!(thrown instanceof ConnectError)) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
  const [problem] = thrown.findDetails(ProblemSchema);
  return problem ? new RemoteError(problem, url, thrown) : unreachable(thrown, url);
}

const failures: readonly (readonly [codes: RegExp, explain: (url: URL, code: string) => string])[] = [
  [
    /^ECONNREFUSED$/,
    ({ href }, code) =>
      `nothing is listening at ${href} (${code}): start a service there with kibitz serve, or correct --url`,
  ],
  [
    /^(ENOTFOUND|EAI_\w+)$/,
    ({ hostname }, code) =>
      `the name ${hostname} cannot be found (${code}): correct --url, or look at the network of this machine`,
  ],
  [
    /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN)$/,
    ({ href }, code) =>
      `${href} cannot be reached (${code}): correct --url, or look at the network and its firewalls`,
  ],
  [
    /CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$/,
    ({ host }, code) =>
      `the certificate of ${host} is not trusted (${code}): use the name that it was issued for, or name the file of its authority in NODE_EXTRA_CA_CERTS`,
  ],
  [
    /^(EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$/,
    ({ host }, code) =>
      `no TLS connection to ${host} can be made (${code}): if the service has no TLS, write http://${host}`,
  ],
  [
    /^HPE_/,
    ({ host }, code) =>
      `what listens at ${host} does not answer in HTTP (${code}): if it expects TLS, write https://${host}`,
  ],
  [
    /^(ECONNRESET|ECONNABORTED|EPIPE|ERR_STREAM_\w+)$/,
    ({ href }, code) => `the connection to ${href} broke off (${code}): ask again`,
  ],
];

function unreachable(error: ConnectError, address: string): UnreachableError {
  const url = new URL(address);
  for (const code of codesIn(error)) {
    const explain = failures.find(([codes]) => codes.test(code))?.[1];
    if (explain) {
      return new UnreachableError(explain(url, code), { cause: error });
    }
  }
  const said = withoutControls(error.rawMessage.slice(0, 200));
  // Connect also reports `Unavailable` for some HTTP statuses of other servers, such as a proxy.
  const message =
    error.code === Code.Unavailable
      ? `what answers at ${address} in the place of the service says ${said}: ask again later, or ask who runs it`
      : `what answers at ${address} is not Kibitz (${said}): correct --url; if the service is behind a path, the path belongs to it`;
  return new UnreachableError(message, { cause: error });
}

function* codesIn(error: unknown): Generator<string> {
  for (let one = error; one instanceof Error; one = one.cause) {
    if ("code" in one && typeof one.code === "string") {
      yield one.code;
    }
  }
}
