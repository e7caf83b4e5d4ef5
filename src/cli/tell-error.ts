import { errorKind } from "../errors/catalogue.ts";
import { KibitzError } from "../errors/errors.ts";
import { problemFromError } from "../errors/problem.ts";
import { type CommandInput, exitCode } from "./command.ts";

/** Runs, and tells what was thrown on purpose. */
export async function orTellError(input: CommandInput, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (thrown) {
    if (!(thrown instanceof KibitzError)) {
      throw thrown;
    }
    return tellError(thrown, input);
  }
}

function tellError(error: KibitzError, { values, host }: CommandInput): number {
  if (values.json === true) {
    host.stdout.write(`${JSON.stringify(problemFromError(error, "cli"))}\n`);
  } else {
    host.stderr.write(complaintsOf(error));
    if (error.suggestedRequest) {
      host.stderr.write(
        `kibitz: this request would be answered: ${JSON.stringify(error.suggestedRequest)}\n`,
      );
    }
  }
  return exitCodeOf(error);
}

/** Whether it is the input that must be changed, or something else has gone wrong. */
export function exitCodeOf({ code }: KibitzError): number {
  return errorKind(code).status < 500 ? exitCode.usage : exitCode.failure;
}

/** All that is wrong, a line each. @param where it is, before each */
export function complaintsOf(error: KibitzError, where = ""): string {
  const messages = error.faults.length > 0 ? error.faults.map(({ message }) => message) : [error.message];
  return messages.map((message) => `kibitz: ${where}${message}\n`).join("");
}
