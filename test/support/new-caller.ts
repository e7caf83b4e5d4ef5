let callers = 0;

/** Returns an address that no other caller of this process has had. */
export function newAddress(): string {
  callers++;
  return `10.${callers >> 16}.${(callers >> 8) & 255}.${callers & 255}`;
}

/** Returns the header of a call from a new address, for a service that trusts the test as a proxy. */
export function newCaller(): { readonly "x-forwarded-for": string } {
  return { "x-forwarded-for": newAddress() };
}
