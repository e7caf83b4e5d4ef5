import { createHash } from "node:crypto";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { toBinary } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { callerKey } from "../context-keys.ts";
import { repeatablePart } from "../convert.ts";

/**
 * Answers to GET get a weak ETag over the part of them that the same request brings again, so that whoever has one
 * is spared the next. What may be another answer next time is not to be kept at all.
 */
export function leaveEtag(): Interceptor {
  return (next) => async (request) => {
    const response = await next(request);
    if (request.stream || response.stream || request.requestMethod !== "GET") {
      return response;
    }
    const { answerHeaders } = request.contextValues.get(callerKey);
    if (!answerHeaders.has("cache-control")) {
      const part = repeatablePart(response.message);
      answerHeaders.set("cache-control", part ? "private, no-cache" : "no-store");
      if (part) {
        answerHeaders.set("etag", etagOf(request.method.output, part));
      }
    }
    return response;
  };
}

function etagOf(desc: DescMessage, message: Message): string {
  const digest = createHash("sha256").update(toBinary(desc, message)).digest("base64url");
  return `W/"${digest.slice(0, 22)}"`;
}
