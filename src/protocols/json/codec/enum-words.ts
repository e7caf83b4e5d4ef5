import type { DescEnum } from "@bufbuild/protobuf";

/**
 * The words that plain JSON has for the values of an enum: lower case, without the prefix that proto
 * asks for (`PATH_AUTO` is `auto`). The value 0 has none: it says that nothing is said, which is `null`.
 */
export function wordsOfEnum(desc: DescEnum): ReadonlyMap<number, string> {
  const prefix = desc.sharedPrefix ?? "";
  return new Map(
    desc.values
      .filter(({ number }) => number !== 0)
      .map(({ number, name }) => [number, name.toLowerCase().slice(prefix.length)]),
  );
}
