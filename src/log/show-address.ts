import { createHmac, randomBytes } from "node:crypto";

/** How much of a caller's address the log may say. */
type AddressForm = "none" | "truncated" | "hashed" | "full";

const dayMs = 86_400_000;

/**
 * Shows an address (IPv4, or IPv6 network) in a form: `truncated` names a network of 256 or more, 203.0.113.0/24 or
 * 2001:db8:7::/48; `hashed` tells callers apart for a day, and says nothing of who they are: the secret is made anew
 * every day, and never leaves the process.
 */
export function createAddressShower(
  form: AddressForm,
  now: () => number = () => performance.now(),
): (address: string) => string | undefined {
  switch (form) {
    case "none":
      return () => undefined;
    case "truncated":
      return truncated;
    case "hashed": {
      let secret = { day: -1, bytes: randomBytes(32) };
      return (address) => {
        const day = Math.floor(now() / dayMs);
        if (day !== secret.day) {
          secret = { day, bytes: randomBytes(32) };
        }
        return createHmac("sha256", secret.bytes).update(address).digest("hex").slice(0, 16);
      };
    }
    case "full":
      return (address) => address;
  }
}

function truncated(address: string): string {
  if (address.includes(":")) {
    return `${address.split(":").slice(0, 3).join(":")}::/48`;
  }
  return address.includes(".") ? `${address.split(".").slice(0, 3).join(".")}.0/24` : address;
}
