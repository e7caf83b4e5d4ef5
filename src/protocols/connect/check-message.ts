import type { DescMethod } from "@bufbuild/protobuf";
import type { ContextValues } from "@connectrpc/connect";
import type { Limits } from "../../access/limits.ts";
import { boundBinary, boundJson } from "../../calls/bound-request.ts";
import { requestMaxBytes } from "../../calls/policy.ts";
import { costOfBytes } from "../../errors/errors.ts";
import type { BeginWork } from "../../thread/time-slices.ts";
import { stateKey } from "./state.ts";

/** Rejects with a KibitzError if a message must not be decoded, or with the abort reason if the client no longer waits. */
export type CheckMessage = (
  message: Uint8Array,
  method: DescMethod,
  header: Headers,
  values: ContextValues,
) => Promise<void>;

export function createMessageCheck(beginWork: BeginWork, limits: Limits): CheckMessage {
  return async (message, method, header, values) => {
    const { account, outcome, signal } = values.get(stateKey);
    outcome.readBytes = Math.max(outcome.readBytes, message.length);
    outcome.workCost = costOfBytes(message.length);
    signal.throwIfAborted();
    if (message.length > requestMaxBytes) {
      // Connect decodes a message without a pause. So at most one long message is decoded in each turn of the event loop.
      const turn = beginWork(() => {
        signal.throwIfAborted();
        limits.errorQuota.check(account);
      });
      await turn();
    }
    boundMessage(message, method, /[/+]json\b/i.test(header.get("content-type") ?? ""));
  };
}

function boundMessage(message: Uint8Array, method: DescMethod, isJson: boolean): void {
  if (isJson) {
    // Latin-1 is enough here: in UTF-8, the bytes of brackets, commas, colons and quotes occur in no other character.
    boundJson(Buffer.from(message.buffer, message.byteOffset, message.length).toString("latin1"), method);
  } else {
    boundBinary(message, method);
  }
}
