import { ProblemSchema } from "../../gen/chess/analysis/v1/problem_pb.ts";
import { createMessageWriter } from "../calls/plain/write-message.ts";
import { errorKind, refusalKind } from "../errors/catalog.ts";
import { allowedByUpgrade, KibitzError, type Violation } from "../errors/errors.ts";
import { problemFromError } from "../errors/problem.ts";
import { withoutControls } from "../text/controls.ts";
import { durationText } from "../text/duration-text.ts";
import { echo } from "../text/echo.ts";
import { fieldPathOf } from "../text/json-pointer.ts";
import { type CommandInput, exitCode } from "./command.ts";
import { keyVariable } from "./remote-address.ts";
import { RemoteError } from "./remote-error.ts";

export async function orPrintError(input: CommandInput, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (thrown) {
    if (!(thrown instanceof KibitzError)) {
      throw thrown;
    }
    return printError(thrown, input);
  }
}

function printError(error: KibitzError, { values, host }: CommandInput): number {
  if (values.json === true) {
    host.stdout.write(`${problemJson(error)}\n`);
  } else {
    host.stderr.write(complaintsOf(error));
    host.stderr.write(
      nextSteps(error)
        .map((way) => `kibitz: ${withoutControls(way)}\n`)
        .join(""),
    );
  }
  return exitCodeOf(error);
}

export function problemJson(error: KibitzError): string {
  return withoutControls(
    error instanceof RemoteError
      ? createMessageWriter(ProblemSchema)(error.problem)
      : JSON.stringify(problemFromError(error, "cli")),
  );
}

/** Returns suggestions for the user, such as a corrected request. */
function nextSteps(error: KibitzError): readonly string[] {
  const { code, suggestedRequest, upgrade, retryAfterMs, nextAction } = error;
  const ways = [
    suggestedRequest && `try: ${JSON.stringify(suggestedRequest, shortened)}`,
    upgrade && `the plan ${echo(upgrade.plan)} allows ${allowedByUpgrade(code)}: ${upgrade.url}`,
    nextAction === "get_api_key" && `give an API key of the service, in ${keyVariable} or with --key`,
    nextAction === "check_api_key" && `check the API key in ${keyVariable} or --key`,
    retryAfterMs !== undefined && `ask again in ${durationText(retryAfterMs / 1000)}`,
    ...(error instanceof RemoteError
      ? [
          code === "unimplemented" && "the service is of another version, or --url has a path too many",
          code === "internal" &&
            `the operator of the service finds it in the log as ${echo(error.problem.requestId)}`,
        ]
      : []),
  ];
  return ways.filter((way) => typeof way === "string");
}

/** Longer values are shortened in error messages, but not with `--json`. */
const shownMax = { characters: 200, items: 40 };

function shortened(_name: string, value: unknown): unknown {
  if (typeof value === "string" && value.length > shownMax.characters) {
    return `${value.slice(0, shownMax.characters)}… (${value.length} characters)`;
  }
  return Array.isArray(value) && value.length > shownMax.items
    ? [...value.slice(0, shownMax.items), `… (${value.length} items)`]
    : value;
}

/** For the status 429, returns `failure` instead of `usage`, because the user can send the same request again later. */
export function exitCodeOf({ code }: Pick<KibitzError, "code">): number {
  const isEarly = refusalKind(code) === "early";
  return errorKind(code).status < 500 && !isEarly ? exitCode.usage : exitCode.failure;
}

export function complaintsOf(error: KibitzError, prefix = ""): string {
  const messages = error.violations.length > 0 ? error.violations.map(complaintOf) : [error.message];
  return messages.map((message) => `kibitz: ${withoutControls(prefix + message)}\n`).join("");
}

/** Adds the name of the field to a message about a plan limit. Every other message already contains the name. */
function complaintOf({ pointer, code, message }: Violation): string {
  return code === "over_plan_limit" ? `${fieldPathOf(pointer)}: ${message}` : message;
}
