/** Removes pieces and fields one after the other while `holds` returns true. Returns the smallest FEN. */
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

/** Yields only simpler FENs, so that the shrinking ends. */
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
      const open = board.replace(/[2-8]/g, (digit) => "1".repeat(Number(digit)));
      const place = openPlace(board, at);
      const taken = `${open.slice(0, place)}1${open.slice(place + 1)}`;
      yield [taken.replace(/1+/g, (run) => String(run.length)), ...rest].join(" ");
    }
  }
}

/** Returns the index of the symbol at `at` in a board that writes each empty square as `1`: `111` and not `3`. */
function openPlace(board: string, at: number): number {
  return board.slice(0, at).replace(/[2-8]/g, (digit) => "1".repeat(Number(digit))).length;
}
