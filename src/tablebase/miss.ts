/** Why the tables do not know a position. */
export type MissReason =
  | "too_many_men"
  | "castling_rights"
  | "no_table"
  /** A file that is needed is damaged, has changed or cannot be read. A probe later may succeed. */
  | "unusable_table"
  /** The checksum of a file is being computed. */
  | "unverified_table";

export class TableMiss extends Error {
  override readonly name = "TableMiss";
  readonly reason: MissReason;

  constructor(reason: MissReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
