/** True for a warning that the castling rights of a FEN were read otherwise than written, so that the position may differ. */
export function isOfRights({ code }: { readonly code: string }): boolean {
  return code === "castling_rights_removed" || code === "chess960_assumed";
}
