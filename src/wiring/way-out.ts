/** What the operator can do about an address that cannot be listened on. */
export function wayOut({ code = "" }: NodeJS.ErrnoException): string {
  switch (code) {
    case "EADDRINUSE":
      return " KIBITZ_PORT=0 picks a free port.";
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return " KIBITZ_HOST must be an address of this machine.";
    default:
      return "";
  }
}
