import { membersMax } from "../../calls/bound-request.ts";
import { countJson, isJsonObject, type Plain, wellFormedJson } from "../../text/json.ts";

/** Null members are removed only in this many levels of a message. The first level is `params`. */
const tidyLevels = 4;

/** Removes null members, because many clients write null for an absent field. Parses `arguments` from a JSON string. */
export function tidyMessage<Message>(message: Message): Message {
  if (!isJsonObject(message)) {
    return message;
  }
  const { params, ...rest } = message as Plain;
  const tidy = withoutNulls(params, tidyLevels);
  if (!isJsonObject(tidy)) {
    return (params === null ? rest : message) as Message;
  }
  const read = jsonIn(tidy.arguments);
  return { ...rest, params: isJsonObject(read) ? { ...tidy, arguments: read } : tidy } as Message;
}

function withoutNulls(value: unknown, levels: number): unknown {
  if (levels === 0 || !isJsonObject(value)) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([name, member]) => [name, withoutNulls(member, levels - 1)]),
  );
}

/** Parses a text. Returns undefined if the text is not JSON or has more than two nested levels. */
export function jsonIn(text: unknown): unknown {
  if (typeof text !== "string") {
    return undefined;
  }
  const { levels, members } = countJson(text);
  try {
    return levels > 2 || members > membersMax ? undefined : JSON.parse(wellFormedJson(text));
  } catch {
    return undefined;
  }
}
