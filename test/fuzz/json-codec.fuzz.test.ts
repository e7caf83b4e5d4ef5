import { deepEqual, equal, match, ok } from "node:assert/strict";
import {
  type DescField,
  type DescMessage,
  equals,
  fromJson,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { test } from "vitest";
import { AnalysisRequestSchema } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { EvaluateBatchRequestSchema } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { CreateKeyRequestSchema } from "../../gen/chess/analysis/v1/key_service_pb.ts";
import { jsonFromBytes, nestingMax } from "../../src/calls/bound-request.ts";
import { createMessageReader, type MessageReading } from "../../src/calls/plain/read-message.ts";
import { createMessageWriter } from "../../src/calls/plain/write-message.ts";
import { KibitzError, type Violation } from "../../src/errors/errors.ts";
import { explainJson, readJsonObject } from "../../src/protocols/json/json-text.ts";
import { threadMs } from "../support/thread-time.ts";
import { corpusOf } from "./corpus.ts";
import { fuzz } from "./fuzz.ts";
import { type WrittenJson, writtenJson } from "./written-json.ts";

interface Input {
  readonly json: WrittenJson;
  /** Changes to the text of `json`. The other properties of `json` describe the text before the changes. */
  readonly edits: readonly { readonly at: number; readonly cut: number; readonly put: string }[];
  /** These bytes are overwritten after the changes of `edits`. */
  readonly bytes: readonly (readonly [at: number, byte: number])[];
}

const inputs: fc.Arbitrary<Input> = fc.record({
  json: writtenJson,
  edits: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    fc.array(
      fc.record({
        at: fc.nat(200),
        cut: fc.nat(3),
        put: fc.oneof(
          fc.constantFrom(...'{}[]:,"\\ -0e1', "\ufeff", "\ud800", '"fen":'),
          fc.string({ unit: "binary", maxLength: 2 }),
        ),
      }),
      { maxLength: 3 },
    ),
  ),
  bytes: fc.oneof(
    { weight: 5, arbitrary: fc.constant([]) },
    fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 2 }),
  ),
});

const readers = [AnalysisRequestSchema, EvaluateBatchRequestSchema, CreateKeyRequestSchema].map((desc) => ({
  desc,
  read: createMessageReader(desc),
  write: createMessageWriter(desc),
}));

const namesOfPrototypes = () => [Object.prototype, Array.prototype].map((one) => Reflect.ownKeys(one).length);
const untouched = namesOfPrototypes();
const counts = { objects: 0, refused: 0, messages: 0 };

function readingOf(body: Uint8Array) {
  try {
    return { value: readJsonObject(jsonFromBytes(body)) };
  } catch (thrown) {
    ok(thrown instanceof KibitzError, String(thrown));
    return { violations: thrown.violations };
  }
}

function check({ json, edits, bytes }: Input): void {
  const text = edits.reduce(
    (some, { at, cut, put }) => some.slice(0, at) + put + some.slice(at + cut),
    json.text,
  );
  const body = new TextEncoder().encode(text);
  for (const [at, byte] of bytes) {
    if (at < body.length) {
      body[at] = byte;
    }
  }
  const { value, violations } = readingOf(body);
  if (edits.length === 0 && bytes.length === 0) {
    const good = isJson(text) && !json.repeats && json.levels <= nestingMax;
    const isObject = good && text.trimStart().startsWith("{");
    equal(value !== undefined, isObject);
    if (json.levels <= nestingMax) {
      equal(explainJson(text).length === 0, good);
    }
  }
  if (value === undefined) {
    counts.refused++;
    checkViolations(violations);
    return;
  }
  counts.objects++;
  deepEqual(value, wellFormed(JSON.parse(new TextDecoder().decode(body))));
  for (const { desc, read, write } of readers) {
    checkMessage(desc, value as JsonValue, read(value), read, write);
  }
  deepEqual(namesOfPrototypes(), untouched, "a prototype was changed");
}

/** Replaces each half of a surrogate pair in the keys and values of a JSON value by U+FFFD. */
function wellFormed(json: JsonValue): JsonValue {
  if (typeof json === "string") {
    return json.toWellFormed();
  }
  if (typeof json !== "object" || json === null) {
    return json;
  }
  return Array.isArray(json)
    ? json.map(wellFormed)
    : Object.fromEntries(Object.entries(json).map(([key, value]) => [key.toWellFormed(), wellFormed(value)]));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function checkMessage(
  desc: DescMessage,
  json: JsonValue,
  { message, violations }: MessageReading,
  read: (json: unknown) => MessageReading,
  write: (message: MessageReading["message"]) => string,
): void {
  const theirs = readByLibrary(desc, json);
  if (violations.length > 0) {
    checkViolations(violations);
    const looser = looserForms(desc, json);
    ok(
      theirs === undefined || looser.length > 0,
      `protobuf-es reads it as ${desc.name}, and we refuse it: ${violations[0]?.pointer} ${violations[0]?.message}`,
    );
    return;
  }
  counts.messages++;
  ok(theirs !== undefined, `protobuf-es does not read it as ${desc.name}`);
  ok(equals(desc, message, theirs), `protobuf-es reads something else as ${desc.name}`);

  const written = write(message);
  const { message: same, violations: none } = read(readJsonObject(written));
  deepEqual(none, []);
  ok(equals(desc, message, same), "what was written is read as something else");
  equal(write(same), written);
}

function checkViolations(violations: readonly Violation[]): void {
  ok(violations.length > 0 && violations.length <= 40, `${violations.length} faults`);
  for (const { pointer, message, code } of violations) {
    match(pointer, /^(\/(~[01]|[^~/])*)*$/su);
    ok(message.length > 0 && message.length < 1000, message);
    match(code, /^(malformed_json|unknown_field|invalid_type|out_of_range)$/);
  }
}

/** Decodes with protobuf-es, which needs the full names of enum values. Returns undefined if protobuf-es rejects the JSON. */
function readByLibrary(desc: DescMessage, json: JsonValue): MessageReading["message"] | undefined {
  try {
    return fromJson(desc, withEnumNames(desc, json));
  } catch {
    return undefined;
  }
}

function withEnumNames(desc: DescMessage, json: JsonValue): JsonValue {
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    return json;
  }
  const members = Object.entries(json).map(([key, value]): [string, JsonValue] => {
    const field = desc.fields.find(({ name }) => name === key);
    if (field?.enum && typeof value === "string" && /^[a-z]+$/.test(value)) {
      const prefix = field.enum.sharedPrefix?.toUpperCase() ?? "";
      const known = value !== "unspecified";
      return [key, known ? `${prefix}${value.toUpperCase()}` : "no such word"];
    }
    if (field?.message && field.fieldKind === "list" && Array.isArray(value)) {
      return [key, value.map((item) => withEnumNames(field.message, item))];
    }
    return [key, value];
  });
  return Object.fromEntries(members);
}

/** Describes the values that ProtoJSON allows and `/v1` rejects. */
function looserForms(desc: DescMessage, json: JsonValue): readonly string[] {
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    return [];
  }
  return Object.entries(json).flatMap(([key, value]) => {
    const field = desc.fields.find(({ name, jsonName }) => name === key || jsonName === key);
    if (!field) {
      return [];
    }
    const items = Array.isArray(value) ? value : [value];
    return [
      ...(field.name === key ? [] : ["a field in camel case"]),
      ...(field.name === "fen" && value === null ? ["null for `fen`"] : []),
      ...items.flatMap((item) => looserValues(field, item)),
    ];
  });
}

function looserValues(field: DescField, value: JsonValue): readonly string[] {
  if (field.enum) {
    return typeof value === "number" || (typeof value === "string" && /^[A-Z]/.test(value))
      ? ["an enum by number or by its full name"]
      : [];
  }
  if (field.message && field.message.typeName !== "google.protobuf.Struct") {
    return looserForms(field.message, value);
  }
  if (hasInfinity(value)) {
    return ["a number beyond a double"];
  }
  if (field.scalar !== undefined && field.scalar !== ScalarType.STRING && typeof value === "string") {
    return ["a number as text"];
  }
  const implicit = field.presence === FeatureSet_FieldPresence.IMPLICIT && field.fieldKind === "scalar";
  return implicit && value === null ? ["null for a field that is always there"] : [];
}

/** Returns true if a number is infinite. `JSON.parse` reads 1e400 as Infinity. */
function hasInfinity(value: JsonValue): boolean {
  return typeof value === "object" && value !== null
    ? Object.values(value).some(hasInfinity)
    : typeof value === "number" && !Number.isFinite(value);
}

test("the JSON codec decodes the same values as protobuf-es or refuses the message, and encoding and decoding keep the values", () =>
  fuzz({
    name: "json-codec",
    inputs,
    check,
    corpus: corpusOf<Input>("json-codec"),
    figures: () => JSON.stringify(counts),
  }));

test.each([
  ["brackets", "[".repeat(1_000_000)],
  ["keys", `{${'"a":'.repeat(250_000)}`],
  ["escapes", `"${"\\".repeat(1_000_000)}`],
  ["quotes", '"'.repeat(1_000_000)],
  ["repeated keys", `{${'"a":1,'.repeat(150_000)}"a":1}`],
  ["digits", "1".repeat(1_000_000)],
  ["spaces", " ".repeat(1_000_000)],
  ["unknown fields", `{${Array.from({ length: 60_000 }, (_, index) => `"f${index}":1`)}}`],
])("a body of a megabyte needs less than three seconds of processor time: %s", (_, text) => {
  const before = threadMs();
  const { value } = readingOf(new TextEncoder().encode(text));
  if (value !== undefined) {
    for (const { read } of readers) {
      read(value);
    }
  }
  const tookMs = threadMs() - before;
  ok(tookMs < 3000, `${tookMs} ms`);
});
