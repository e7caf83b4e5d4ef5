/** True for a warning about castling rights that were removed or read as Chess960, because the position may then differ. */
export function isOfRights({ code }: { readonly code: string }): boolean {
  return code === "castling_rights_removed" || code === "chess960_assumed";
}
