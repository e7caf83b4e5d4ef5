import { base64Decode } from "@bufbuild/protobuf/wire";
import type { HandlerContext } from "@connectrpc/connect";
import { KibitzError } from "../errors/errors.ts";
import type { CountRefusal } from "./complete-errors.ts";
import { connectErrorFrom } from "./connect-error.ts";
import { callerKey } from "./context-keys.ts";

/** Throws for a GET whose message is not the base64 that it says: Connect (2.2.0) would take that for a failure of its own. */
export function refuseBrokenBase64(context: HandlerContext, count: CountRefusal): void {
  const { requestMethod, url, values } = context;
  const query = requestMethod === "GET" ? new URL(url).searchParams : undefined;
  if (query?.get("base64") !== "1") {
    return;
  }
  try {
    base64Decode(query.get("message") ?? "");
  } catch (cause) {
    const error = new KibitzError(
      "malformed_http",
      "The query says base64=1, but `message` is not valid base64.",
      { cause },
    );
    const { requestId, ending } = values.get(callerKey);
    ending.code = error.code;
    count(error, context);
    throw connectErrorFrom(error, requestId);
  }
}
