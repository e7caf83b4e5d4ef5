import type { DescEnum } from "@bufbuild/protobuf";

/** Maps an enum's values to their words: `auto` for `PATH_AUTO`. 0 has no word, because it means unset and is `null`. */
export function wordsOfEnum(desc: DescEnum): ReadonlyMap<number, string> {
  const prefix = desc.sharedPrefix ?? "";
  return new Map(
    desc.values
      .filter(({ number }) => number !== 0)
      .map(({ number, name }) => [number, name.toLowerCase().slice(prefix.length)]),
  );
}
