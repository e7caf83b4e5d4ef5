import { type DescMethod, type DescOneof, getOption, type Message } from "@bufbuild/protobuf";
import { answer } from "../../../gen/kibitz/json/v1/options_pb.ts";
import { createMessageWriter } from "./codec/write-message.ts";

/** The messages that a stream chooses from, and which of them is the answer. */
export interface StreamEvents {
  readonly choice: DescOneof;
  readonly answer: DescOneof["fields"][number];
}

/**
 * Reads what a stream of events says of itself in the proto: its message is one choice of messages, of which one is
 * marked as the answer. Throws where it is anything else, or takes a name that every stream needs.
 */
export function eventsOf(method: DescMethod): StreamEvents {
  const { output } = method;
  const [choice, ...more] = output.oneofs;
  const members = choice?.fields ?? [];
  const [only, ...others] = members.filter((field) => getOption(field, answer));
  if (
    choice === undefined ||
    only === undefined ||
    others.length > 0 ||
    more.length > 0 ||
    members.length < output.fields.length ||
    members.some(({ message, name }) => message === undefined || ownNames.includes(name))
  ) {
    throw new Error(
      `${method}: ${output} must be one choice of messages, one of them (kibitz.json.v1.answer), none called ${ownNames.join(" or ")}`,
    );
  }
  return { choice, answer: only };
}

/** Events that the gateway adds. */
const ownNames = ["done", "error"];

/** A message of a stream as the event that plain JSON has for it. */
export interface StreamEvent {
  readonly name: string;
  readonly data: string;
  readonly isAnswer: boolean;
}

/** Writes the messages of a stream as events; undefined for one in which nothing is chosen. */
export function createEventWriter(method: DescMethod): (message: Message) => StreamEvent | undefined {
  const { choice, answer: answerField } = eventsOf(method);
  const writers = new Map(
    choice.fields.map((field) => {
      const write = createMessageWriter(field.message as NonNullable<typeof field.message>);
      return [field.localName, { name: field.name, isAnswer: field === answerField, write }];
    }),
  );
  return (message) => {
    const chosen = (message as Message & Record<string, unknown>)[choice.localName] as Chosen;
    const writer = writers.get(chosen.case ?? "");
    return (
      writer && {
        name: writer.name,
        isAnswer: writer.isAnswer,
        data: writer.write(chosen.value as Message),
      }
    );
  };
}

type Chosen = { readonly case?: string; readonly value?: unknown };
