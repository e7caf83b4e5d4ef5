/** Returns the smallest FEN for which `holds` returns true. Removes one piece or field after the other. */
export async function shrinkFen(fen: string, holds: (fen: string) => Promise<boolean>): Promise<string> {
  let smallest = fen;
  for (let shrunk = true; shrunk; ) {
    shrunk = false;
    for (const candidate of candidatesOf(smallest)) {
      if (await holds(candidate)) {
        smallest = candidate;
        shrunk = true;
        break;
      }
    }
  }
  return smallest;
}

const plain = ["", "w", "-", "-", "0", "1"];

/** Yields simpler FENs. */
function* candidatesOf(fen: string): Generator<string> {
  const fields = fen.split(" ");
  for (const [index, field] of fields.entries()) {
    const simple = plain[index];
    if (index > 1 && simple !== undefined && field !== simple) {
      yield fields.with(index, simple).join(" ");
    }
    if (index === 2 && field.length > 1) {
      for (const letter of field) {
        yield fields.with(2, field.replace(letter, "")).join(" ");
      }
    }
  }
  const [board = "", ...rest] = fields;
  for (let at = 0; at < board.length; at++) {
    if (/[a-z]/i.test(board[at] ?? "")) {
      const expanded = board.replace(/[2-8]/g, (digit) => "1".repeat(Number(digit)));
      const place = expandedIndexOf(board, at);
      const taken = `${expanded.slice(0, place)}1${expanded.slice(place + 1)}`;
      yield [taken.replace(/1+/g, (run) => String(run.length)), ...rest].join(" ");
    }
  }
}

/** Converts an index of a board field to the index in the expanded board, in which `3` is written as `111`. */
function expandedIndexOf(board: string, at: number): number {
  return board.slice(0, at).replace(/[2-8]/g, (digit) => "1".repeat(Number(digit))).length;
}
