import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescOneof,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import {
  field as fieldOption,
  message as messageOption,
  oneof as oneofOption,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { wordsOfEnum } from "../../src/protocols/json/codec/enum-words.ts";
import { commentOf, defaultFrom } from "./comment.ts";
import type { Json } from "./json.ts";
import { rulesOfField } from "./rules-of-field.ts";
import { orNull, type Refer, schemaOfValue } from "./schema-of-field.ts";

/** A message as the gateway reads it: no field but those of the proto, and `null` for what may be left out. */
export function schemaOfRequest(desc: DescMessage, refer: Refer): Json {
  const required = desc.fields.filter(isNeeded).map(({ name }) => name);
  return {
    type: "object",
    description: commentOf(desc),
    properties: Object.fromEntries(desc.fields.map((field) => [field.name, requestProperty(field, refer)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    ...oneofRules(desc, refer, false),
  };
}

/** Without it, or with nothing in it, the rules refuse the message. */
function isNeeded(field: DescField): boolean {
  const rules = rulesOfField(field);
  return rules.required || (rules.type.case === "repeated" && rules.type.value.minItems > 0n);
}

function requestProperty(field: DescField, refer: Refer): Json {
  const value = schemaOfValue(field, refer);
  const comment = commentOf(field);
  const standard = defaultFrom(comment);
  // As in gateway/read-field.ts: a plain scalar of proto3 cannot be absent, so null is a wrong type.
  const nullable =
    !isNeeded(field) &&
    (field.fieldKind !== "scalar" || field.presence !== FeatureSet_FieldPresence.IMPLICIT);
  return {
    ...(nullable ? orNull(value) : value),
    description: comment,
    ...(standard !== undefined && { default: standard }),
  };
}

/** A message as the gateway writes it: every field is there, `null` where it is known to be absent. New ones may come. */
export function schemaOfAnswer(desc: DescMessage, refer: Refer): Json {
  refuseRules(desc);
  return {
    type: "object",
    description: commentOf(desc),
    properties: Object.fromEntries(desc.fields.map((field) => [field.name, answerProperty(field, refer)])),
    ...(desc.fields.length > 0 && { required: desc.fields.map(({ name }) => name) }),
    ...oneofRules(desc, refer, true),
  };
}

function answerProperty(field: DescField, refer: Refer): Json {
  const value = schemaOfValue(field, refer);
  return { ...(canBeNull(field) ? orNull(value) : value), description: commentOf(field) };
}

/**
 * An answer may gain values that nobody thought of. A client that checks the rules of the proto would refuse them, so
 * rules are for requests.
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

/** Whether the proto says `optional`: an enum or a message without that word is always sent. */
function canBeNull(field: DescField): boolean {
  return field.oneof !== undefined || field.proto.proto3Optional;
}

/**
 * Which fields of a choice are set: exactly one, or at most one.
 *
 * @param all whether the others are there as well, as `null`
 */
function oneofRules(desc: DescMessage, refer: Refer, all: boolean): Json {
  const [first, ...more] = desc.oneofs.map((choice) => ({ oneOf: alternatives(choice, refer, all) }));
  return more.length === 0 ? { ...first } : { allOf: [first, ...more] };
}

function alternatives(choice: DescOneof, refer: Refer, all: boolean): readonly Json[] {
  const typeOf = (field: DescField) => schemaOfValue(field, refer).type ?? "object";
  const names = choice.fields.map(({ name }) => name);
  const only = (chosen: DescField | undefined) => ({
    properties: Object.fromEntries(
      choice.fields.map((field) => [field.name, { type: field === chosen ? typeOf(field) : "null" }]),
    ),
    required: all ? names : names.filter((name) => name === chosen?.name),
  });
  const { required } = getOption(choice, oneofOption);
  return [...choice.fields.map(only), ...(required ? [] : [only(undefined)])];
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

/** A field of a request as a parameter of the query, where all that is absent is simply not there. */
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
