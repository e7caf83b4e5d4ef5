import { countJson, membersMax } from "../../text/json-scan.ts";
import { isJsonObject, type Plain } from "../../text/plain-text.ts";

/** Levels of a message, `params` included, in which a member that is null is removed. */
const tidyLevels = 4;

/**
 * A message without the members of its `params` that are null, which means absent, and with `arguments` read if they are JSON in a
 * string. Many clients write every field of their types.
 */
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

/** The value that a string spells in JSON; undefined if the string spells none, or more than an object of lists. */
export function jsonIn(text: unknown): unknown {
  if (typeof text !== "string") {
    return undefined;
  }
  const { levels, members } = countJson(text);
  try {
    return levels > 2 || members > membersMax ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
