/** The description of the whole: what no single call can say. */
export const overview = `Send a position, and a real Stockfish answers with an evaluation or a best move.

The same calls are answered over gRPC, gRPC-Web and Connect on this port; this document is made from their proto.

**Scores** are from White's point of view, whoever is to move.

**Requests** are strict: an unknown field, a wrong type or a key that stands twice is refused, with all that is wrong
and where. \`null\` for a field that may be left out means that it is. Bodies have at most 64 KiB, that of a batch 1 MiB.

**Answers** have every field always, \`null\` where it is known to be absent. Within \`/v1\` they may gain fields, codes
and warnings: ignore what you do not know.

**Errors** are problem documents (RFC 9457). Programs read \`code\` and \`next_action\`; every \`type\` is a page of this
server that explains it, and [/problems](/problems) lists them all.
`;
