import { create } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { createMessageReader } from "../../../src/calls/plain/read-message.ts";
import { messageWith } from "./made-up-proto.ts";

describe("maps", () => {
  const withMap = messageWith({ name: "remaining", type: Type.UINT64, map: true });
  const read = (text: string) => createMessageReader(withMap)(JSON.parse(text));

  it("maps are read from objects", () => {
    expect(read('{"remaining":{"a":1,"b/c":0}}')).toEqual({
      faults: [],
      message: create(withMap, { remaining: { a: 1n, "b/c": 0n } }),
    });
  });

  it("a wrong entry of a map is named and left out", () => {
    expect(read('{"remaining":{"a":"1","b/c":-1,"d":2}}')).toMatchObject({
      faults: [
        { pointer: "/remaining/a", code: "invalid_type" },
        { pointer: "/remaining/b~1c", code: "out_of_range" },
      ],
      message: { remaining: { d: 2n } },
    });
    expect(read('{"remaining":[]}').faults).toMatchObject([{ pointer: "/remaining" }]);
  });

  it("the key `__proto__` of a map is a key like any other", () => {
    const { message } = read('{"remaining":{"__proto__":5}}');
    expect(Object.entries((message as { remaining?: object }).remaining ?? {})).toEqual([["__proto__", 5n]]);
  });
});
