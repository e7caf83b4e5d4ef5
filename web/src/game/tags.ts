type Tags = ReadonlyMap<string, string>;

/** Returns undefined if the tag is missing or its value is unknown, such as `?` or `????.??.??`. */
export function known(tags: Tags, name: string): string | undefined {
  const value = tags.get(name)?.trim() ?? "";
  return /^[?.]*$/.test(value) ? undefined : value;
}

/** Returns a file name that is valid on every system, such as `Morphy-Isouard-1858.pgn`. */
export function fileNameOf(tags: Tags): string {
  const date = known(tags, "Date")?.replaceAll(/\.\?\?/g, "");
  const parts = [known(tags, "White"), known(tags, "Black"), date].flatMap((part) => {
    const safe = part
      ?.normalize("NFC")
      .replaceAll(/[^\p{L}\p{N}.]+/gu, "-")
      .replaceAll(/^[-.]+|[-.]+$/g, "");
    return safe ? [safe] : [];
  });
  return `${parts.join("-").slice(0, 100) || "game"}.pgn`;
}
