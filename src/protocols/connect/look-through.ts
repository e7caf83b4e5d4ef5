/** Looks for what would hold the thread in requests that Connect decodes, before it does. */

import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import type { HandlerContext } from "@connectrpc/connect";
import { refuseLongBinary, refuseLongJson } from "../../calls/long-requests.ts";
import { errorFromFaults, KibitzError } from "../../errors/errors.ts";
import type { BodyBudget } from "../../http/body-budget.ts";
import { countMembers, membersMax } from "../../text/json-scan.ts";
import { requestCompression } from "./compressions.ts";
import { connectErrorFrom } from "./errors.ts";
import { stateKey } from "./state.ts";

/** @throws KibitzError where a request is long, or has many keys, for another reason than its texts. */
export function refuseLong(payload: Uint8Array, { input }: DescMethod, json: boolean): void {
  if (json) {
    refuseLongJson(payload);
    refuseManyMembers(payload, input);
  } else {
    refuseLongBinary(payload);
  }
}

/**
 * Looks through the message in the query of a GET, which Connect reads without asking for a body. Broken base64 would count
 * as a failure of the server.
 *
 * @throws ConnectError
 */
export async function lookThroughQuery(
  { requestMethod, url, values, method }: HandlerContext,
  maxBytes: number,
  bodies: BodyBudget,
): Promise<void> {
  if (requestMethod !== "GET") {
    return;
  }
  const { request, outcome } = values.get(stateKey);
  const query = new URL(url).searchParams;
  const sent = messageOfQuery(query, request.id);
  const call = { outcome, count: bodies.countOf(request, outcome) };
  const inflate = () => requestCompression.decompress(sent, maxBytes);
  const payload =
    query.get("compression") === requestCompression.name ? await bodies.inflate(sent, inflate, call) : sent;
  outcome.readBytes = payload.length;
  if (query.get("encoding") === "json") {
    telling(request.id, () => refuseManyMembers(payload, method.input));
  }
}

function messageOfQuery(query: URLSearchParams, requestId: string): Uint8Array {
  const message = query.get("message") ?? "";
  if (query.get("base64") !== "1") {
    return Buffer.from(message);
  }
  try {
    return base64Decode(message);
  } catch (cause) {
    const text = "The query says base64=1, but `message` is not valid base64.";
    throw connectErrorFrom(new KibitzError("malformed_http", text, { cause }), requestId);
  }
}

/** @throws ConnectError where `look` throws a KibitzError. */
export function telling(requestId: string, look: () => void): void {
  try {
    look();
  } catch (thrown) {
    throw thrown instanceof KibitzError ? connectErrorFrom(thrown, requestId) : thrown;
  }
}

/** @throws KibitzError where decoding a message would hold the thread: it is decoded in one go, whatever is in it. */
export function refuseManyMembers(json: string | Uint8Array, { typeName }: DescMessage): void {
  const text = typeof json === "string" ? json : Buffer.from(json).toString("latin1");
  const count = countMembers(text, Number.POSITIVE_INFINITY) ?? 0;
  if (count > membersMax) {
    const message = `The message ${typeName} has more than ${membersMax} keys.`;
    throw errorFromFaults([{ pointer: "", code: "malformed_json", message }]);
  }
}
