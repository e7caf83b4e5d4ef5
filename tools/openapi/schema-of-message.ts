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

/** Returns a schema without additional properties. Optional fields may be null. */
export function schemaOfRequest(desc: DescMessage, refer: Refer): Json {
  const required = desc.fields.filter(isRequired).map(({ name }) => name);
  return {
    type: "object",
    description: descriptionOf(desc),
    properties: Object.fromEntries(desc.fields.map((field) => [field.name, requestProperty(field, refer)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** True if the validation rules reject an absent or empty field. */
function isRequired(field: DescField): boolean {
  const rules = rulesOfField(field);
  return rules.required || (rules.type.case === "repeated" && rules.type.value.minItems > 0n);
}

/** Omits the keyword `default`: with this keyword, generated clients would reject a request without the field. */
function requestProperty(field: DescField, refer: Refer): Json {
  const value = schemaOfValue(field, refer);
  // A scalar field without `optional` must not be null, because proto3 cannot represent its absence. An enum may be null, but
  // the schema does not allow null, because some generators cannot read a closed enum with null.
  const nullable =
    !isRequired(field) &&
    !field.enum &&
    (field.fieldKind !== "scalar" || field.presence !== FeatureSet_FieldPresence.IMPLICIT);
  return withComment(field, nullable ? orNull(value) : value);
}

/** Puts the comment of the field before the description of its value. */
function withComment(field: DescField, schema: Json): Json {
  const description = [commentOf(field), schema.description].filter(Boolean).join("\n\n");
  return { ...schema, description };
}

/** Requires all fields. Allows additional properties, because newer services may add fields. */
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
  return withComment(field, canBeNull(field) ? orNull(value) : value);
}

/** Throws Error if a response type has validation rules, because a newer service may send values that break the rules. */
function refuseRules(desc: DescMessage): void {
  const ruled =
    desc.fields.find((field) => hasOption(field, fieldOption)) ??
    desc.oneofs.find((choice) => hasOption(choice, oneofOption)) ??
    (hasOption(desc, messageOption) ? desc : undefined);
  if (ruled) {
    throw new Error(`${ruled} has a rule of buf.validate, but is part of an answer: rules are for requests`);
  }
}

/** True for `optional` fields and fields of a `oneof`. All other fields always have a value. */
function canBeNull(field: DescField): boolean {
  return field.oneof !== undefined || field.proto.proto3Optional;
}

/** Describes a `oneof` as text, because code generators make wrong types from the keyword `oneOf`. */
function descriptionOf(desc: DescMessage): string {
  const choices = desc.oneofs.map((choice) => {
    const names = choice.fields.map(({ name }) => `\`${name}\``);
    return `${commentOf(choice)} Only one of ${names.join(", ")} is set.`;
  });
  return [commentOf(desc), ...choices].join("\n\n");
}

/**
 * Lists the values as lower-case words, with a description of each word.
 * @param keyword `enum` forbids other words. `x-extensible-enum` only lists the known words, which generators ignore.
 */
export function schemaOfEnum(desc: DescEnum, keyword: "enum" | "x-extensible-enum"): Json {
  const words = wordsOfEnum(desc);
  const meanings = desc.values
    .filter(({ number }) => words.has(number))
    .map((value) => `- \`${words.get(value.number)}\`: ${commentOf(value)}`);
  return {
    type: "string",
    description: `${commentOf(desc)}\n\n${meanings.join("\n")}`,
    [keyword]: [...words.values()],
    ...(keyword === "x-extensible-enum" && { examples: [...words.values()] }),
  };
}

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
