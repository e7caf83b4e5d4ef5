/** Which states may follow which. */
export type Transitions<State extends string> = Readonly<Record<State, readonly State[]>>;

/** @throws Error where a state may not follow another: a fault of the service's own, never of a caller's. */
export function assertMayFollow<State extends string>(
  transitions: Transitions<State>,
  from: State,
  to: State,
): void {
  if (!transitions[from].includes(to)) {
    throw new Error(`"${to}" may not follow "${from}"`);
  }
}
