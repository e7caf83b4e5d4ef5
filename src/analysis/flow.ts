/**
 * Returns the name of a flow of the fair queue. The single requests of an account share a flow. Each batch or review has a flow
 * of its own, so that single requests of the same account do not wait for the whole batch or review.
 */
export function flowOf(account: string, longCall?: string): string {
  return longCall === undefined ? account : `${account}#${longCall}`;
}

/** An account is an address or the id of an API key, and contains no `#`. */
export function accountOfFlow(flow: string): string {
  const end = flow.indexOf("#");
  return end < 0 ? flow : flow.slice(0, end);
}
