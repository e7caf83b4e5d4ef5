/** The side to move in a FEN. */
export function turnOf(fen: string): "white" | "black" {
  return fen.split(" ")[1] === "b" ? "black" : "white";
}

export function nameOfSide(side: "white" | "black"): string {
  return side === "white" ? "White" : "Black";
}

/** A position in nine lines, White below, by the letters of its FEN: upper case is White, a dot is an empty square. */
export function boardOf(fen: string): string {
  const [placement = ""] = fen.split(" ");
  const rows = placement.split("/").map((rank, index) => {
    const squares = rank.replace(/\d/g, (count) => ".".repeat(Number(count)));
    return `${8 - index} ${[...squares].join(" ")}`;
  });
  return [...rows, "  a b c d e f g h"].join("\n");
}

/** The description of a position that every answer has. */
export function describePosition(fen: string): string {
  return `${nameOfSide(turnOf(fen))} to move. FEN: ${fen}\n\n${boardOf(fen)}`;
}

/** A number of half-moves, in words. */
export function halfMovesText(count: number): string {
  return count === 1 ? "1 half-move" : `${count} half-moves`;
}
