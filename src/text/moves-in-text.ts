/** No move contains brackets, quotation marks or slashes. */
const move = /^[^[\]{}"'`\\/]{1,16}$/;
const moveNumber = /^\d{1,4}(?:\.+|…)/;

/** Splits a text such as `1. e4 e5` into moves. Returns undefined if a word cannot be a move, or if there are no words. */
export function movesInText(text: string): readonly string[] | undefined {
  const words = text.split(/[\s,;]+/).map((word) => word.replace(moveNumber, ""));
  const moves = words.filter((word) => word !== "");
  return moves.length > 0 && moves.every((word) => move.test(word)) ? moves : undefined;
}
