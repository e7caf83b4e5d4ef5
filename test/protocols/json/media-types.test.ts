import { expect, it } from "vitest";
import { preferredType } from "../../../src/http/message.ts";
import { isJson } from "../../../src/protocols/json/read-json.ts";

const json = "application/json";
const events = "text/event-stream";

it.each([
  "application/json",
  "Application/JSON",
  "application/json; charset=utf-8",
  "application/json; charset=UTF8",
  'application/json;charset="UTF-8"',
  "application/json; odata=verbose",
  " application/json ;",
  'application/json; profile="a;charset=latin1"',
  'application/json; profile="\\";charset=latin1"; charset=utf-8',
])("the Content-Type %s is accepted as JSON", (contentType) => {
  expect(isJson(contentType)).toBe(true);
});

it.each([
  undefined,
  "",
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/json; charset=latin1",
  "application/json; charset=utf-16",
  'application/json; profile="a"; charset="utf-16"',
  "application/jsonp",
  "application/grpc+json",
  "application/json, text/plain",
])("the Content-Type %s is not accepted as JSON", (contentType) => {
  expect(isJson(contentType)).toBe(false);
});

it.each([
  [undefined, true],
  ["", true],
  ["*/*", true],
  ["application/json", true],
  ["application/*", true],
  ["text/html, application/xhtml+xml, */*;q=0.8", true],
  ["Application/JSON;q=0.5, text/html", true],
  ["*/*;q=0, application/json", true],
  ["application/json;q=0.001", true],
  ["application/json;q=.5", true],
  ["application/json; charset=utf-8", true],
  ['application/json;charset="UTF-8"', true],
  ['text/plain;a="x,y", application/json', true],
  ["*/*;q=0.1, application/json;q=0.000, application/*", false],
  // A comma inside quotes is part of a value.
  ['text/plain;a="x,application/json,y"', false],
  ['text/plain;a="x,*/*,y"', false],
  ['text/plain;a="\\",application/json"', false],
  ["application/json;q=nonsense", false],
  ["text/html", false],
  ["application/problem+json", false],
  ["application/json;q=0", false],
  ["application/json;q=0.000, */*", false],
  ["application/*;q=0, */*", false],
  ["text/*", false],
])("the header Accept: %j allows a JSON response: %s", (accept, passes) => {
  expect(preferredType(accept, [json]) === json).toBe(passes);
});

it.each([
  [undefined, false],
  ["*/*", false],
  ["application/json", false],
  ["application/json, text/event-stream", false],
  ["text/html, */*", false],
  ["text/event-stream;q=0.5, */*", false],
  ['text/html;a="x,text/event-stream", */*;q=0.5', false],
  ["text/html", false],
  ["text/event-stream;q=0", false],
  ["text/event-stream", true],
  ["text/event-stream;charset=utf-8", true],
  ["text/event-stream, */*", true],
  ["text/event-stream, application/json", true],
  ["Text/Event-Stream, application/json;q=0.9", true],
  ["text/event-stream;q=0.2, */*;q=0.1", true],
])("the header Accept: %j prefers an event stream to JSON: %s", (accept, asks) => {
  expect(preferredType(accept, [json, events]) === events).toBe(asks);
});

it("an Accept header that is too long is ignored", () => {
  const long = "*/*;q=0,".repeat(2000);
  expect(preferredType(long, [json, events])).toBe(json);
});
