/** The message is the end of a sentence that begins with the name of the file. */
export class DamagedTable extends Error {
  override readonly name = "DamagedTable";
}
