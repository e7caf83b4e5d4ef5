import type { DescEnum } from "@bufbuild/protobuf";

/** The words of plain JSON for the values of an enum: `auto` for `PATH_AUTO`. The value 0 means unset, which is `null`. */
export function wordsOfEnum(desc: DescEnum): ReadonlyMap<number, string> {
  const prefix = desc.sharedPrefix ?? "";
  return new Map(
    desc.values
      .filter(({ number }) => number !== 0)
      .map(({ number, name }) => [number, name.toLowerCase().slice(prefix.length)]),
  );
}
