/** Returns the remaining requests of a named rate limit from the body of `GET /v1/keys/self`. */
export function remainingOf(body: Readonly<Record<string, unknown>>, name: string): number {
  const rates = body.remaining as readonly { readonly name: string; readonly remaining: number }[];
  const rate = rates.find((one) => one.name === name);
  if (rate === undefined) {
    throw new Error(`no rate ${name} in ${JSON.stringify(rates)}`);
  }
  return rate.remaining;
}
