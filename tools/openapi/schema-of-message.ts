import { type DescEnum, type DescField, type DescMessage, hasOption } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import {
  field as fieldOption,
  message as messageOption,
  oneof as oneofOption,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { wordsOfEnum } from "../../src/calls/plain/enum-words.ts";
import { commentOf } from "./comment.ts";
import type { Json } from "./json.ts";
import { rulesOfField } from "./rules-of-field.ts";
import { orNull, type Refer, schemaOfValue } from "./schema-of-field.ts";

/** A message that the gateway reads: only the fields of the proto, and `null` for an absent optional field. */
export function schemaOfRequest(desc: DescMessage, refer: Refer): Json {
  const required = desc.fields.filter(isNeeded).map(({ name }) => name);
  return {
    type: "object",
    description: descriptionOf(desc),
    properties: Object.fromEntries(desc.fields.map((field) => [field.name, requestProperty(field, refer)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** True if the rules refuse a message in which the field is absent or empty. */
function isNeeded(field: DescField): boolean {
  const rules = rulesOfField(field);
  return rules.required || (rules.type.case === "repeated" && rules.type.value.minItems > 0n);
}

/**
 * The description alone names the default. With the keyword, generators treat a field that may be null as one that
 * is always there, and refuse a request without it.
 */
function requestProperty(field: DescField, refer: Refer): Json {
  const value = schemaOfValue(field, refer);
  // A plain scalar of proto3 cannot be absent, so the gateway refuses null there.
  const nullable =
    !isNeeded(field) &&
    (field.fieldKind !== "scalar" || field.presence !== FeatureSet_FieldPresence.IMPLICIT);
  return { ...(nullable ? orNull(value) : value), description: commentOf(field) };
}

/** A message that the gateway writes: every field is present, or `null` if it is absent. Fields may be added. */
export function schemaOfAnswer(desc: DescMessage, refer: Refer): Json {
  refuseRules(desc);
  return {
    type: "object",
    description: descriptionOf(desc),
    properties: Object.fromEntries(desc.fields.map((field) => [field.name, answerProperty(field, refer)])),
    ...(desc.fields.length > 0 && { required: desc.fields.map(({ name }) => name) }),
  };
}

function answerProperty(field: DescField, refer: Refer): Json {
  const value = schemaOfValue(field, refer);
  return { ...(canBeNull(field) ? orNull(value) : value), description: commentOf(field) };
}

/**
 * Rules are for requests, because an answer may gain new values, and a client that checks the rules of the proto would refuse them.
 */
function refuseRules(desc: DescMessage): void {
  const ruled =
    desc.fields.find((field) => hasOption(field, fieldOption)) ??
    desc.oneofs.find((choice) => hasOption(choice, oneofOption)) ??
    (hasOption(desc, messageOption) ? desc : undefined);
  if (ruled) {
    throw new Error(`${ruled} has a rule of buf.validate, but is part of an answer: rules are for requests`);
  }
}

/** True if the proto says `optional`: an enum or a message without that word is always sent. */
function canBeNull(field: DescField): boolean {
  return field.oneof !== undefined || field.proto.proto3Optional;
}

/**
 * The comment, and for each `oneof` which fields exclude each other. A `oneOf` beside `properties` would say the same
 * to validators, but generators of clients make of it a type without fields, or code that does not compile.
 */
function descriptionOf(desc: DescMessage): string {
  const choices = desc.oneofs.map((choice) => {
    const names = choice.fields.map(({ name }) => `\`${name}\``);
    return `${commentOf(choice)} Only one of ${names.join(", ")} is set.`;
  });
  return [commentOf(desc), ...choices].join("\n\n");
}

/** An enum as lower-case words, each with what it means. */
export function schemaOfEnum(desc: DescEnum): Json {
  const words = wordsOfEnum(desc);
  const meanings = desc.values
    .filter(({ number }) => words.has(number))
    .map((value) => `- \`${words.get(value.number)}\`: ${commentOf(value)}`);
  return {
    type: "string",
    description: `${commentOf(desc)}\n\n${meanings.join("\n")}`,
    enum: [...words.values()],
  };
}

/** A field of a request as a parameter of the query. */
export function queryParameter(field: DescField, refer: Refer): Json {
  const comment = commentOf(field);
  const { required } = rulesOfField(field);
  return {
    name: field.name,
    in: "query",
    description: comment,
    required,
    schema: schemaOfValue(field, refer),
  };
}
