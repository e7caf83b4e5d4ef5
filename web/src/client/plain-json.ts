import {
  create,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import { wordsOfEnum } from "../../../src/calls/plain/enum-words.ts";
import { createPlainWriter, createRequestWriter } from "../../../src/calls/plain/write-message.ts";

/** Plain JSON, as `/v1` reads and shows it: the service's own writer makes it, so that it cannot be any other. */

const writers = new Map<DescMessage, (message: Message) => JsonObject>();

/** A message as plain JSON shows it, every field there. */
export function plainFromMessage(desc: DescMessage, message: Message): JsonObject {
  const write = writers.get(desc) ?? createPlainWriter(desc);
  writers.set(desc, write);
  return write(message);
}

/** A request as one would write it in plain JSON: what is not set is left out. */
export function plainRequest(desc: DescMessage, message: Message): JsonObject {
  return createRequestWriter(desc)(message);
}

/** The message of a request in plain JSON, such as one that the service suggests. What this page does not know of is left out. */
export function messageFromPlain<Desc extends DescMessage>(
  desc: Desc,
  plain: JsonObject,
): MessageShape<Desc> {
  const named: Record<string, JsonValue> = { ...plain };
  for (const { name, enum: words } of desc.fields) {
    const word = named[name];
    if (words && typeof word === "string") {
      const number = [...wordsOfEnum(words)].find(([, known]) => known === word)?.[0];
      named[name] = number ?? 0;
    }
  }
  return fromJson(desc, named, { ignoreUnknownFields: true }) ?? create(desc);
}
