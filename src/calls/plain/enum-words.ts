import type { DescEnum } from "@bufbuild/protobuf";

/** Maps PATH_AUTO to `auto`, for example. The value 0 means "not set" and has no word. */
export function wordsOfEnum(desc: DescEnum): ReadonlyMap<number, string> {
  const prefix = desc.sharedPrefix ?? "";
  return new Map(
    desc.values
      .filter(({ number }) => number !== 0)
      .map(({ number, name }) => [number, name.toLowerCase().slice(prefix.length)]),
  );
}
