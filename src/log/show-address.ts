import { createHmac, randomBytes } from "node:crypto";
import { now } from "../time/time.ts";

type AddressForm = "none" | "truncated" | "hashed" | "full";

const dayMs = 86_400_000;

/**
 * - `truncated`: the network, such as 203.0.113.0/24 or 2001:db8:7::/48
 * - `hashed`: the same hash for a caller during one day
 */
export function createAddressShower(form: AddressForm, clock = now): (address: string) => string | undefined {
  switch (form) {
    case "none":
      return () => undefined;
    case "truncated":
      return truncated;
    case "hashed": {
      let secret = { day: -1, bytes: randomBytes(32) };
      return (address) => {
        const day = Math.floor(clock() / dayMs);
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
    return `${address.split(":", 3).join(":")}::/48`;
  }
  return address.includes(".") ? `${address.split(".", 3).join(".")}.0/24` : address;
}
