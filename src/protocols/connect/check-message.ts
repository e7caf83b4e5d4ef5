/** Refuses messages that would take long to decode, before Connect decodes them. */

import type { DescMethod } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import type { ContextValues, HandlerContext } from "@connectrpc/connect";
import { compressionGzip } from "@connectrpc/connect-node";
import type { Limits } from "../../access/limits.ts";
import { boundBinary, boundJson } from "../../calls/bound-request.ts";
import { requestMaxBytes } from "../../calls/policy.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { BodyBudget } from "../../http/body-budget.ts";
import { refuseLeft } from "../../request/context.ts";
import type { BeginWork } from "../../thread/event-loop.ts";
import { connectErrorFrom } from "./errors.ts";
import { stateKey } from "./state.ts";

/** Rejects with a KibitzError or `CallerLeft` if a message must not be decoded. */
export type CheckMessage = (
  message: Uint8Array,
  method: DescMethod,
  header: Headers,
  values: ContextValues,
) => Promise<void>;

export function createMessageCheck(beginWork: BeginWork, limits: Limits): CheckMessage {
  return async (message, method, header, values) => {
    const { account, outcome } = values.get(stateKey);
    outcome.readBytes = Math.max(outcome.readBytes, message.length);
    if (message.length > requestMaxBytes) {
      // Connect decodes it in one go: no two long messages in one turn of the event loop.
      const turn = beginWork(() => {
        refuseLeft(outcome);
        limits.errorQuota.check(account);
      });
      await turn();
    }
    boundMessage(message, method, /[/+]json\b/i.test(header.get("content-type") ?? ""));
  };
}

/**
 * Checks the message in the query of a GET, which Connect reads without a body. Broken base64 would count as a failure of the
 * server.
 *
 * @throws ConnectError
 */
export async function checkQuery(
  { requestMethod, url, values, method }: HandlerContext,
  maxBytes: number,
  bodies: BodyBudget,
): Promise<void> {
  if (requestMethod !== "GET") {
    return;
  }
  const { request, outcome } = values.get(stateKey);
  const query = new URL(url).searchParams;
  const compression = query.get("compression") ?? "identity";
  const isPacked = compression === compressionGzip.name;
  if (!isPacked && compression !== "identity") {
    // Connect refuses it undecoded.
    return;
  }
  try {
    const sent = messageOfQuery(query);
    const inflate = () => compressionGzip.decompress(sent, maxBytes);
    const call = { outcome, count: bodies.countOf(request, outcome) };
    const message = isPacked ? await bodies.inflate(sent, inflate, call) : sent;
    outcome.readBytes = message.length;
    boundMessage(message, method, query.get("encoding") === "json");
  } catch (thrown) {
    throw thrown instanceof KibitzError ? connectErrorFrom(thrown, request.id) : thrown;
  }
}

function boundMessage(message: Uint8Array, method: DescMethod, isJson: boolean): void {
  if (isJson) {
    // Brackets, commas, colons and quotes are bytes of their own in UTF-8.
    boundJson(Buffer.from(message.buffer, message.byteOffset, message.length).toString("latin1"), method);
  } else {
    boundBinary(message, method);
  }
}

function messageOfQuery(query: URLSearchParams): Uint8Array {
  const message = query.get("message") ?? "";
  if (query.get("base64") !== "1") {
    return Buffer.from(message);
  }
  try {
    return base64Decode(message);
  } catch (cause) {
    const text = "The query says base64=1, but `message` is not valid base64.";
    throw new KibitzError("malformed_http", text, { cause });
  }
}
