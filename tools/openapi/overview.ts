export const overview = `Send a position, and a real Stockfish answers with an evaluation or a best move.

The same calls are available over gRPC, gRPC-Web and Connect on this port; this document is generated from their proto.

**Scores** are from White's point of view, whichever side is to move.

**Requests** are checked strictly: an unknown field, a wrong type or a duplicate key is refused, and the answer lists every
fault and where it is. \`null\` in an optional field means absent. Bodies are limited to 64 KiB, games to 512 KiB, batches to 1 MiB (256 KiB over gRPC and Connect).

**Answers** always have every field; one without a value is \`null\`. Within \`/v1\` they may gain fields, codes,
warnings, kinds of events and words of an enum: ignore those you do not know.

**Errors** are problem documents (RFC 9457). Programs should read \`code\` and \`next_action\`; every \`type\` is a page on
this server that explains it, and [/problems](/problems) lists them all.
`;
