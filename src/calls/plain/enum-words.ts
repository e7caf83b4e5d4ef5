import type { DescEnum } from "@bufbuild/protobuf";

/**
 * Maps each value of an enum to a word in JSON, such as PATH_AUTO to `auto`. The value 0 has no word, because 0 means "not
 * set".
 */
export function wordsOfEnum(desc: DescEnum): ReadonlyMap<number, string> {
  const prefix = desc.sharedPrefix ?? "";
  return new Map(
    desc.values
      .filter(({ number }) => number !== 0)
      .map(({ number, name }) => [number, name.toLowerCase().slice(prefix.length)]),
  );
}
