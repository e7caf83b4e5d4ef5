import { tracePlaceOf } from "../request/context.ts";
import { echo } from "../text/echo.ts";
import { type Command, type CommandInput, UsageError } from "./command.ts";
import type { Host } from "./host.ts";

export interface RemoteAddress {
  /** The URL may include a path, but does not end with a slash. */
  readonly url: string;
  readonly key: string | undefined;
  readonly trace?: Readonly<Record<string, string>> | undefined;
}

export const keyVariable = "KIBITZ_API_KEY";

export const remoteOptions = {
  url: { type: "string", value: "<address>", about: "ask a running service: https://kibitz.example" },
  key: {
    type: "string",
    value: "<key>",
    about: `API key for it; better set ${keyVariable}, because other users can read command lines`,
  },
} as const satisfies Command["options"];

/** Returns undefined if `--url` is missing. Throws UsageError if `--url` or `--key` is invalid. */
export function remoteAddressOf({
  values,
  host,
}: Pick<CommandInput, "values" | "host">): RemoteAddress | undefined {
  const { url, key = host.env[keyVariable] } = values;
  if (typeof url !== "string") {
    if (values.key !== undefined) {
      throw new UsageError("--key is for a running service: name it with --url");
    }
    return undefined;
  }
  return {
    url: baseUrlOf(url),
    key: typeof key === "string" && key !== "" ? readKey(key) : undefined,
    trace: traceFrom(host.env),
  };
}

/** Reads the environment variables with which OpenTelemetry links a child process to the trace of its parent. */
function traceFrom({ TRACEPARENT, TRACESTATE }: Host["env"]): RemoteAddress["trace"] {
  if (TRACEPARENT === undefined || tracePlaceOf(TRACEPARENT) === undefined) {
    return undefined;
  }
  // Validate the text, because it becomes the value of an HTTP header.
  const state = TRACESTATE !== undefined && /^[ -~]{1,512}$/.test(TRACESTATE) ? TRACESTATE : undefined;
  return { traceparent: TRACEPARENT, ...(state !== undefined && { tracestate: state }) };
}

function baseUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const withScheme = `http://${text}`;
    const meant =
      URL.canParse(withScheme) && !text.includes("://") ? `; did you mean ${echo(withScheme)}?` : "";
    throw new UsageError(`--url must begin with http:// or https://, not ${echo(text)}${meant}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new UsageError(`--url must have no user or password: a key is given with ${keyVariable}`);
  }
  if (url.search !== "" || url.hash !== "") {
    throw new UsageError(
      `--url must end before ${url.search === "" ? "#" : "?"}: only a path may stand behind the host`,
    );
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** Throws a UsageError whose message never contains the key. */
function readKey(key: string): string {
  if (!/^[!-~]+$/.test(key)) {
    throw new UsageError("the API key has characters that no key has: copy it again, without spaces");
  }
  return key;
}
